// The moving previews of the cards that are in view. The others hold nothing in memory, and are fetched when they come into view.
import { openPreview } from "./access.js";
import { byId } from "./elements.js";

const MOST_AT_ONCE = 3; // that are being fetched
const NEAR = "200px"; // of the view

export class CardPreviews {
  #cards = new Map(); // element: {avatar, show, hide, url, fetching (an AbortController while it is)}
  #waiting = new Set(); // of these
  #fetching = 0;
  #observer = new IntersectionObserver((changes) => changes.forEach((change) => this.#moved(change)), { rootMargin: NEAR });

  /** show(url), null where there is no preview, and hide() are called when the element comes into view, and leaves it. */
  add(element, avatar, { show, hide }) {
    this.#cards.set(element, { avatar, show, hide, url: null, fetching: null });
    this.#observer.observe(element);
  }

  clear() {
    this.#observer.disconnect();
    for (const card of this.#cards.values()) this.#drop(card);
    this.#cards.clear();
  }

  /** The URL of what the element shows; null: nothing yet. */
  urlOf(element) {
    return this.#cards.get(element)?.url ?? null;
  }

  // A gallery that is hidden as a whole keeps what it shows: the session shows it, too.
  #moved({ target, isIntersecting }) {
    const card = this.#cards.get(target);
    if (!card || byId("gallery").hidden) return;
    if (!isIntersecting) return this.#drop(card);
    if (card.url === null && !card.fetching) this.#waiting.add(card);
    this.#next();
  }

  #drop(card) {
    this.#waiting.delete(card);
    card.fetching?.abort();
    card.fetching = null;
    if (card.url === null) return;
    card.hide();
    URL.revokeObjectURL(card.url);
    card.url = null;
  }

  #next() {
    for (const card of this.#waiting) {
      if (this.#fetching >= MOST_AT_ONCE) return;
      this.#waiting.delete(card);
      this.#fetch(card);
    }
  }

  async #fetch(card) {
    const fetching = (card.fetching = new AbortController());
    this.#fetching += 1;
    const url = await openPreview(card.avatar, fetching.signal);
    this.#fetching -= 1;
    if (card.fetching === fetching) {
      card.fetching = null;
      card.url = url;
      card.show(url);
    } else if (url !== null) {
      URL.revokeObjectURL(url);
    }
    this.#next();
  }
}
