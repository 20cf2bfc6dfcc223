// Typed text and sound files.
import { byId } from "./elements.js";

export class Composer {
  /** say(text) and send(file) are called with what the user gives. */
  constructor({ say, send }) {
    this.text = byId("text");
    this.say = say;
    byId("composer").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
    this.text.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.#submit();
    });
    this.text.addEventListener("input", () => this.#enable());
    const file = byId("file");
    file.addEventListener("change", () => {
      if (file.files.length > 0) send(file.files[0]);
      file.value = "";
    });
    this.use("", false);
  }

  /** One line beneath the text; "": none. */
  tell(text, tone = "") {
    const hint = byId("composer-hint");
    if (hint.textContent !== text) hint.textContent = text;
    hint.dataset.tone = tone;
  }

  #submit() {
    const text = this.text.value.trim();
    if (!text || !this.usable || !this.say(text)) return;
    this.text.value = "";
    this.#enable();
  }

  #enable() {
    byId("speak").disabled = !this.usable || this.text.value.trim() === "";
  }

  /** `early`: a text may be given already, though sound cannot. */
  use(name, usable, early = usable) {
    this.usable = early;
    this.text.placeholder = name ? `What should ${name} say?` : "";
    byId("file").disabled = !usable;
    byId("mic").disabled = !usable;
    this.#enable();
  }
}
