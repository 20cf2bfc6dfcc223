// How loud the avatar is: a slider, and a button that mutes it.
import { byId } from "./elements.js";

export class Loudness {
  /** set(volume): 0 to 1, when it changes. */
  constructor(set) {
    this.set = set;
    this.button = byId("mute");
    this.slider = byId("volume");
    this.muted = false;
    this.button.addEventListener("click", () => this.mute());
    this.slider.addEventListener("input", () => {
      this.muted = this.slider.valueAsNumber === 0;
      this.#tell();
    });
  }

  get volume() {
    return this.muted ? 0 : this.slider.valueAsNumber / 100;
  }

  /** Or no longer: at the volume of before, which is all of it where that was nothing. */
  mute() {
    this.muted = !this.muted;
    if (!this.muted && this.slider.valueAsNumber === 0) this.slider.value = 100;
    this.#tell();
  }

  #tell() {
    this.button.setAttribute("aria-pressed", String(this.muted));
    byId("mute-icon").setAttribute("href", this.muted ? "#i-muted" : "#i-sound");
    this.set(this.volume);
  }
}
