// Who speaks: changed without leaving the session's view.
import { byId, make, nameOf } from "./elements.js";

export class Choices {
  /** change(avatar): another one was chosen. */
  constructor({ change }) {
    this.avatars = byId("avatar-choice");
    this.all = [];
    this.avatars.addEventListener("change", () => change(this.all.find(({ id }) => id === this.avatars.value)));
  }

  /** A session with `avatar`, one of `all`. */
  show(avatar, all) {
    this.all = all;
    this.avatars.replaceChildren(...all.map(({ id }) => make("option", { value: id, selected: id === avatar.id }, nameOf(id))));
    byId("avatar-label").hidden = all.length < 2;
  }
}
