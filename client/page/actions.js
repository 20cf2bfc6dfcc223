// What the avatar can do besides speaking: a button for each of its actions.
import { byId, make, nameOf } from "./elements.js";

export class Actions {
  /** play(name) is called with the action that the user chooses. */
  constructor({ play }) {
    this.play = play;
    this.list = byId("actions");
  }

  /** Those of session.ready; none hides the row. */
  show(names = []) {
    this.list.replaceChildren(...names.map((name) => make("button",
      { className: "quiet", type: "button", value: name, onclick: () => this.play(name) }, nameOf(name))));
    this.list.hidden = names.length === 0;
  }

  /** The action that is seen, or null. */
  seen(name) {
    for (const button of this.list.children) button.toggleAttribute("data-seen", button.value === name);
  }

  use(usable) {
    for (const button of this.list.children) button.disabled = !usable;
  }
}
