// The microphone: held or open, its level and device.
import { microphones } from "../navtalk.js";
import { byId, make } from "./elements.js";
import { explainMicrophone } from "./errors.js";

const OPEN_HINT = "Use headphones, so that the microphone does not hear the avatar.";

export class Voice {
  /** talked(): the microphone was used for an utterance. listens(sending): whether it sends. */
  constructor({ talked, listens }) {
    this.talked = talked;
    this.listens = listens;
    this.button = byId("mic");
    this.opened = null;
    this.held = false;
    this.button.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      this.button.setPointerCapture(event.pointerId);
      this.press();
    });
    for (const type of ["pointerup", "pointercancel"]) this.button.addEventListener(type, () => this.release());
    this.button.addEventListener("keydown", (event) => {
      if ((event.key === " " || event.key === "Enter") && !event.repeat) this.press();
      if (event.key === " " || event.key === "Enter") event.preventDefault();
    });
    this.button.addEventListener("keyup", (event) => {
      if (event.key === " " || event.key === "Enter") this.release();
    });
    this.button.addEventListener("blur", () => this.release()); // its keys are released elsewhere
    for (const radio of document.querySelectorAll("input[name=mode]")) {
      radio.addEventListener("change", () => {
        this.#talk(false);
        this.#label();
        this.#say(this.mode === "open" ? OPEN_HINT : "");
      });
    }
    byId("device").addEventListener("change", () => this.#reopen());
    globalThis.navigator.mediaDevices?.addEventListener?.("devicechange", () => this.opened && this.#list());
  }

  get mode() {
    return document.querySelector("input[name=mode]:checked").value;
  }

  use(session) {
    this.session = session;
    this.opened = null;
    this.held = false;
    this.talking = false;
    this.opening = null;
    byId("device-label").hidden = true;
    this.#say("");
    this.#level(0);
    this.#label();
    session?.addEventListener("level", ({ detail }) => this.#level(detail.level));
    session?.addEventListener("microphone-lost", () => {
      this.#talk(false);
      this.opened = null;
      this.#say("The microphone was disconnected.", "alarm");
    });
  }

  async press() {
    if (this.session?.state !== "ready") return;
    if (this.mode === "open" && this.talking) return this.#talk(false);
    this.held = true;
    if (!(await this.#open())) return;
    // Permission may have been asked meanwhile.
    if (this.mode === "open" || this.held) this.#talk(true);
  }

  release() {
    this.held = false;
    if (this.mode === "hold") this.#talk(false);
  }

  async #open(deviceId) {
    if (this.opened && !deviceId) return true;
    const session = this.session;
    this.opening ??= session.openMicrophone(deviceId);
    try {
      const opened = await this.opening;
      if (session !== this.session) return false;
      this.opened = opened;
      this.#say(this.mode === "open" ? OPEN_HINT : "");
      await this.#list();
      return true;
    } catch (error) {
      if (session === this.session) this.#say(explainMicrophone(error), "alarm");
      return false;
    } finally {
      if (session === this.session) this.opening = null;
    }
  }

  async #reopen() {
    const talking = this.talking;
    this.#talk(false);
    if ((await this.#open(byId("device").value)) && talking && this.mode === "open") this.#talk(true);
  }

  async #list() {
    const select = byId("device");
    const all = await microphones();
    select.replaceChildren(...all.map((one, i) =>
      make("option", { value: one.deviceId, selected: one.deviceId === this.opened?.deviceId }, one.label || `Microphone ${i + 1}`)));
    byId("device-label").hidden = all.length === 0;
  }

  #talk(talking) {
    if (this.talking === talking) return;
    this.talking = talking;
    this.session?.talk(talking);
    if (talking) this.talked();
    this.listens(talking);
    this.#label();
  }

  #label() {
    this.button.setAttribute("aria-pressed", String(Boolean(this.talking)));
    byId("mic-label").textContent = this.talking
      ? this.mode === "hold" ? "Release to stop" : "Stop talking"
      : this.mode === "hold" ? "Hold to talk" : "Start talking";
  }

  #level(level) {
    // Of sound, half as loud looks half as long when it is 10 dB less.
    const shown = level <= 0 ? 0 : Math.max(0, 1 + Math.log10(level) / 2.5);
    byId("level-bar").style.setProperty("--level", shown.toFixed(3));
    byId("level").value = shown;
  }

  #say(text, tone = "") {
    const hint = byId("voice-hint");
    hint.textContent = text;
    hint.dataset.tone = tone;
  }
}
