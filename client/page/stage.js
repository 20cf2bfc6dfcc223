// The avatar, and what lies over it: connecting, the queue, errors, speaking.
import { announce, byId, make, nameOf, reducedMotion } from "./elements.js";
import { explain } from "./errors.js";
import { showPreview } from "./preview_video.js";

export function etaText(seconds) {
  if (seconds === null || seconds === undefined) return "No estimate yet";
  if (seconds < 10) return "Only a moment longer";
  if (seconds < 90) return `About ${Math.ceil(seconds / 5) * 5} seconds`;
  return `About ${Math.ceil(seconds / 60)} minutes`;
}

export class Stage {
  constructor({ leave, again }) {
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
    this.#controls(false);
    this.connecting();
  }

  #cover(...children) {
    this.covered = null;
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
    const title = away ? "Waiting for the server" : position === null ? "You are in the queue" : position === 1 ? "You are next" : "Your place in the queue";
    const detail = away ? message || "Your place is kept." : etaText(eta_s);
    const [number, heading, eta] = this.#covering("queue", () => [make("div", { className: "place" }), make("h2"), make("p", { id: "eta" }),
      make("div", { className: "progress" }, make("i")), this.#leaveButton("Leave the queue")]);
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
    const away = code === "store_unavailable" ? message || "The server cannot assign one right now." : "";
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
    const title = `Preparing ${this.name} for the first time`;
    const [, , bar] = this.#covering("preparing", () => [make("h2", {}, title), make("p", {}, "The next time it is there at once."),
      make("progress", { max: 1, "aria-label": title }), this.#leaveButton("Cancel")]);
    if (total > 0) bar.value = done / total;
    else bar.removeAttribute("value");
    if (!this.prepared) announce(title);
    this.prepared = true;
  }

  live() {
    this.covered = null;
    this.veil.hidden = true;
    delete this.stage.dataset.veiled;
    this.#controls(true);
    this.speaking(false);
    announce(`${this.name} is ready.`);
  }

  /** The first picture takes the preview's place. */
  pictured() {
    this.stage.dataset.live = "";
    byId("poster").pause();
  }

  speaking(speaks) {
    const badge = byId("badge");
    badge.textContent = speaks ? "Speaking" : "Listening";
    badge.toggleAttribute("data-speaking", speaks);
  }

  failed(reason) {
    const { title, text } = explain(reason);
    const again = make("button", { className: "primary", type: "button", onclick: this.again }, "Start again");
    this.#cover(make("h2", {}, title), make("p", {}, text),
      make("div", { className: "row" }, again, make("button", { className: "quiet", type: "button", onclick: this.leave }, "Choose another avatar")));
    this.veil.firstChild.setAttribute("role", "alert");
    again.focus({ preventScroll: true });
  }
}
