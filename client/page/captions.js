// What was typed, spoken or sent, and how far the avatar is with it.
import { byId, make } from "./elements.js";

const WORDS = { waiting: "Waiting", speaking: "Speaking", said: "Said", stopped: "Interrupted", refused: "Not spoken", lost: "Not spoken" };
const QUIET_MS = 1200; // without speech after it: what waits was said with what came before
const LETTER_MS = 40; // no voice speaks faster: for so long a text is surely the one that is heard

const isOpen = ({ state }) => state === "waiting" || state === "speaking";
const isWaitingText = ({ source, state }) => source === "Typed" && state === "waiting";

export class Captions {
  /** again(text): the user wants a text to be spoken that was lost with its session. settled(): something is over. */
  constructor({ again, settled }) {
    this.again = again;
    this.settled = settled;
    this.log = byId("log");
    this.subtitle = byId("subtitle");
    this.clear();
  }

  clear() {
    clearTimeout(this.quiet);
    clearTimeout(this.unsure);
    this.items = [];
    this.ended = null; // when speech ended last: what was open then
    this.subtitle.textContent = "";
    this.log.replaceChildren();
    this.invite("");
  }

  /** What an empty log says. */
  invite(text) {
    if (this.items.length === 0) this.log.replaceChildren(make("li", { className: "empty" }, text));
  }

  /** Whether a text that was lost can be spoken now. */
  use(usable) {
    this.log.toggleAttribute("data-usable", usable);
  }

  /** Whether something is to be spoken still. */
  get open() {
    return this.items.some(isOpen);
  }

  /** `source`: "Typed", "Microphone", "File". */
  add(source, text) {
    this.log.querySelector(".empty")?.remove();
    const said = make("p", {}, text), small = make("small", {}, "");
    const more = make("button", { className: "link", type: "button", hidden: true }, "Show all");
    more.addEventListener("click", () => {
      more.textContent = said.toggleAttribute("data-all") ? "Show less" : "Show all";
    });
    const element = make("li", {}, said, more, small);
    const item = { source, text, element, small, state: "" };
    this.items.push(item);
    this.log.append(element);
    more.hidden = said.scrollHeight <= said.clientHeight + 1;
    this.#set(item, "waiting");
    this.#subtitle();
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
    item.small.textContent = `${item.source} \u00b7 ${WORDS[state]}`;
  }

  // Nothing tells where a text ends and the next one begins. Where it may be either, none is shown.
  #subtitle() {
    clearTimeout(this.unsure);
    const open = this.items.filter(isOpen);
    const [item] = open;
    const left = item?.since === undefined ? 0 : item.since + LETTER_MS * item.text.length - performance.now();
    const known = item?.state === "speaking" && (open.length === 1 || left > 0);
    if (known && open.length > 1) this.unsure = setTimeout(() => this.#subtitle(), left);
    this.subtitle.textContent = known && item.source === "Typed" ? item.text : "";
  }

  speechStarted() {
    clearTimeout(this.quiet);
    // A text that came after the last speech is the one that is spoken now, unless what came before cannot be over yet.
    const over = this.ended ?? [];
    const since = over.find((item) => item.state === "speaking");
    const came = this.items.some((item) => isOpen(item) && !over.includes(item));
    if (since && came && performance.now() >= since.since + LETTER_MS * since.text.length) this.#settle("said", over);
    this.ended = null;
    const item = this.items.find(isOpen);
    if (!item) return;
    if (item.state === "waiting") item.since = performance.now();
    this.#set(item, "speaking");
    this.#subtitle();
  }

  // A pause within a text ends speech too: the next text begins a little later than the next clause.
  speechEnded() {
    clearTimeout(this.quiet);
    const open = this.items.filter(isOpen);
    const over = (this.ended = open.some(({ state }) => state === "speaking") ? open : []); // none: it was interrupted
    this.quiet = setTimeout(() => this.#settle("said", over), QUIET_MS);
  }

  /** interrupt() was called: what is open now is what it forgets. */
  interrupting() {
    for (const item of this.items) item.interrupted ||= isOpen(item);
  }

  /** What was interrupted is over; what was typed since then waits. */
  interrupted() {
    clearTimeout(this.quiet);
    this.#settle("stopped", this.items.filter((item) => item.interrupted));
  }

  /** The gateway takes the oldest text that waits for what cannot be spoken. `unspeakable`: it has nothing to speak. */
  refusedNext(unspeakable) {
    const waiting = this.items.filter(isWaitingText);
    const item = (unspeakable && waiting.find(({ text }) => !/[\p{L}\p{N}]/u.test(text))) || waiting[0];
    if (item) this.refused(item);
  }

  refused(item) {
    this.#settle("refused", [item]);
  }

  stopped(item) {
    this.#settle("stopped", [item]);
  }

  /** All that is open is lost, with the session or its computer; a text can be spoken again. */
  lost() {
    clearTimeout(this.quiet);
    for (const item of this.items.filter((one) => isOpen(one) && one.source === "Typed")) {
      const again = make("button", { className: "link again", type: "button" }, "Speak it now");
      again.addEventListener("click", () => this.again(item.text) && again.remove());
      item.element.append(again);
    }
    this.#settle("lost", this.items);
  }

  #settle(state, items) {
    for (const item of items) if (isOpen(item)) this.#set(item, state);
    this.#subtitle();
    this.settled();
  }
}
