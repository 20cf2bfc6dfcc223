// What was typed, spoken or sent, and how far the avatar is with it.
import { byId, make } from "./elements.js";

const WORDS = { waiting: "Waiting", speaking: "Speaking", said: "Said", stopped: "Interrupted" };
const QUIET_MS = 1200; // without speech after it: what waits was said with what came before

export class Captions {
  constructor() {
    this.log = byId("log");
    this.subtitle = byId("subtitle");
    this.clear("");
  }

  clear(name) {
    clearTimeout(this.quiet);
    this.items = [];
    this.subtitle.textContent = "";
    this.log.replaceChildren(make("li", { className: "empty" },
      name ? `${name} is listening. Type a sentence, hold the microphone, or send a sound file.` : ""));
  }

  /** `source`: "Typed", "Microphone", "File". */
  add(source, text) {
    this.log.querySelector(".empty")?.remove();
    const small = make("small", {}, "");
    const element = make("li", {}, make("p", {}, text), small);
    const item = { source, text, element, small, state: "" };
    this.items.push(item);
    this.log.append(element);
    this.#set(item, "waiting");
    this.log.scrollTop = this.log.scrollHeight;
    return item;
  }

  remove(item) {
    this.items = this.items.filter((one) => one !== item);
    item.element.remove();
  }

  #set(item, state) {
    item.state = state;
    item.element.dataset.state = state;
    item.small.textContent = `${item.source} · ${WORDS[state]}`;
  }

  #first(state) {
    return this.items.find((item) => item.state === state);
  }

  speechStarted() {
    clearTimeout(this.quiet);
    const item = this.#first("speaking") ?? this.#first("waiting");
    if (!item) return;
    this.#set(item, "speaking");
    this.subtitle.textContent = item.source === "Typed" ? item.text : "";
  }

  // A pause within a text ends speech too: the next text begins a little later than the next clause.
  speechEnded() {
    clearTimeout(this.quiet);
    this.quiet = setTimeout(() => this.#settle("said"), QUIET_MS);
  }

  stopped() {
    clearTimeout(this.quiet);
    this.#settle("stopped");
  }

  #settle(state) {
    for (const item of this.items) if (item.state === "waiting" || item.state === "speaking") this.#set(item, state);
    this.subtitle.textContent = "";
  }
}
