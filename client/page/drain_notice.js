// That the server is going to end this session, counted down in a line of its own.
import { announce, byId } from "./elements.js";

const COUNT_MS = 250;
const KEPT_MS = 3000; // after its time: a session whose computer stays in service after all goes on

export class DrainNotice {
  constructor() {
    this.line = byId("drain");
  }

  /** The session ends after so many seconds. */
  show(seconds) {
    if (this.line.hidden) {
      announce(`The computer of this session goes out of service. The session ends in ${Math.round(seconds)} seconds; you can start another one then.`);
    }
    this.clear();
    this.endsAt = performance.now() + 1000 * seconds;
    this.timer = setInterval(() => this.#count(), COUNT_MS);
    this.line.hidden = false;
    this.#count();
  }

  #count() {
    const left = this.endsAt - performance.now();
    if (left < -KEPT_MS) return this.clear();
    const text = left > 0 ? `This session ends in ${Math.ceil(left / 1000)} s` : "This session ends now";
    if (this.line.textContent !== text) this.line.textContent = text;
  }

  undone() {
    if (!this.line.hidden) announce("The computer of this session stays in service. The session goes on.");
    this.clear();
  }

  clear() {
    clearInterval(this.timer);
    this.line.hidden = true;
  }
}
