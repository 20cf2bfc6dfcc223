// The avatar, and what lies over it: connecting, the queue, errors, speaking.
import { announce, byId, make, nameOf, reducedMotion } from "./elements.js";
import { explain, remedyOf } from "./errors.js";
import { showPreview } from "./preview_video.js";

// Nine of ten waits are shorter (docs/protocol.md), so that it need not fall while one waits.
export function etaText(seconds) {
  if (seconds === null || seconds === undefined) return "No estimate yet";
  if (seconds < 10) return "Only a moment longer";
  if (seconds < 90) return `Nine of ten wait less than ${Math.ceil(seconds / 5) * 5} seconds`;
  return `Nine of ten wait less than ${Math.ceil(seconds / 60)} minutes`;
}

function waitedText(since) {
  const seconds = Math.floor((performance.now() - since) / 1000);
  return `You have waited ${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

export class Stage {
  /** leave(), again(), anotherKey(): what the user chose. */
  constructor({ leave, again, anotherKey }) {
    this.anotherKey = anotherKey;
    this.stage = byId("stage");
    this.veil = byId("veil");
    this.canvas = byId("canvas");
    this.leave = leave;
    this.again = again;
    this.place = null;
    this.covered = null; // what lies over the avatar, where it is kept up to date: "queue", "preparing"
  }

  show(avatar) {
    this.name = nameOf(avatar.id);
    this.canvas.setAttribute("aria-label", `${this.name}, live video`);
    this.stage.style.setProperty("--ratio", String(avatar.width / avatar.height));
    delete this.stage.dataset.live;
    const poster = byId("poster");
    poster.hidden = !avatar.preview;
    if (avatar.preview) {
      showPreview(poster, avatar.preview, avatar.preview_part);
      if (!reducedMotion()) poster.play().catch(() => {});
    }
    this.place = null;
    this.prepared = false;
    this.speaks = this.listens = false;
    this.begun = performance.now();
    this.#controls(false);
    this.connecting();
  }

  #cover(...children) {
    this.covered = null;
    clearInterval(this.waiting);
    this.veil.replaceChildren(make("div", {}, ...children));
    this.veil.hidden = false;
    this.stage.dataset.veiled = "";
    this.#controls(false);
  }

  // The children of a veil that is told of again and again: made once, so that its button keeps the focus and a click.
  #covering(kind, build) {
    if (this.covered !== kind) this.#cover(...build());
    this.covered = kind;
    return this.veil.firstChild.children;
  }

  #controls(shown) {
    byId("controls").hidden = !shown;
    byId("badge").hidden = !shown;
  }

  #leaveButton(text) {
    return make("div", { className: "row" }, make("button", { className: "quiet", type: "button", onclick: this.leave }, text));
  }

  connecting(title = `Connecting to ${this.name}`) {
    this.#cover(make("h2", {}, title), make("div", { className: "progress" }, make("i")), this.#leaveButton("Cancel"));
    announce(title);
  }

  queue({ position, eta_s, code, message }) {
    const away = code === "store_unavailable";
    const withdrawn = code === "withdrawn";
    const title = away ? "Waiting for the server" : withdrawn ? "Out of service for now" : position === null ? "You are in the queue" : position === 1 ? "You are next" : "Your place in the queue";
    const detail = away || withdrawn ? message || "Your place is kept." : etaText(eta_s);
    const [number, heading, eta, waited] = this.#covering("queue", () => [make("div", { className: "place" }), make("h2"), make("p", { id: "eta" }),
      make("p", { id: "waited" }), make("div", { className: "progress" }, make("i")), this.#leaveButton("Leave the queue")]);
    const count = () => (waited.textContent = waitedText(this.begun));
    clearInterval(this.waiting);
    this.waiting = setInterval(count, 1000);
    count();
    number.hidden = position === null;
    number.textContent = position ?? "";
    heading.textContent = title;
    eta.textContent = detail;
    if (this.place !== position) announce(`${title}${position ? `, number ${position}` : ""}. ${detail}`);
    this.place = position;
  }

  /** In a conversation: what queue.update says while another computer is awaited. */
  workerLost({ position, eta_s, code, message }) {
    const title = "The connection to the avatar's computer was lost";
    const away = code === "store_unavailable" || code === "withdrawn" ? message || "The server cannot assign one right now." : "";
    const before = position > 1 ? `You are number ${position} in the queue for it.` : "";
    const [, wait] = this.#covering("lost", () => [make("h2", {}, title), make("p", { id: "eta" }),
      make("div", { className: "progress" }, make("i")), this.#leaveButton("End the session")]);
    const known = eta_s === null || eta_s === undefined ? "" : `${etaText(eta_s)}.`;
    const detail = ["Another one takes over. What was not spoken yet is lost.", before, away || known].filter(Boolean).join(" ");
    if (wait.textContent === "") announce(`${title}. ${detail}`);
    wait.textContent = detail;
  }

  /** At an avatar's first use; told to screen readers once. */
  preparing({ done, total }) {
    const title = total > 0 ? `Preparing ${this.name} for the first time` : `Getting ${this.name} ready`;
    const [heading, hint, bar] = this.#covering("preparing", () => [make("h2"), make("p"), make("progress", { max: 1 }), this.#leaveButton("Cancel")]);
    heading.textContent = title;
    hint.textContent = total > 0 ? "The next time it is there at once." : "";
    bar.setAttribute("aria-label", title);
    if (total > 0) bar.value = done / total;
    else bar.removeAttribute("value");
    if (!this.prepared) announce(title);
    this.prepared = true;
  }

  live() {
    this.covered = null;
    clearInterval(this.waiting);
    this.veil.hidden = true;
    delete this.stage.dataset.veiled;
    this.#controls(true);
    this.#badge();
    announce(`${this.name} is ready.`);
  }

  /** The first picture takes the preview's place. */
  pictured() {
    this.stage.dataset.live = "";
    byId("poster").pause();
  }

  speaking(speaks) {
    this.speaks = speaks;
    this.#badge();
  }

  /** Whether the microphone sends. */
  listening(listens) {
    this.listens = listens;
    this.#badge();
  }

  #badge() {
    const badge = byId("badge");
    badge.textContent = this.speaks ? "Speaking" : this.listens ? "Listening" : "Ready";
    badge.toggleAttribute("data-speaking", this.speaks);
  }

  failed(reason) {
    const { title, text } = explain(reason);
    const remedy = remedyOf(reason);
    const button = (className, onclick, label) => make("button", { className, type: "button", onclick }, label);
    const first = remedy === "key" ? button("primary", this.anotherKey, "Enter another key") : remedy && button("primary", this.again, "Start again");
    const other = button("quiet", this.leave, "Choose another avatar");
    this.#cover(make("h2", {}, title), make("p", {}, text), make("div", { className: "row" }, ...(first ? [first] : []), other));
    this.veil.firstChild.setAttribute("role", "alert");
    (first ?? other).focus({ preventScroll: true });
  }
}
