// Elements of the page, made and found.

export const byId = (id) => document.getElementById(id);

/** make("p", {className: "hint"}, "text", otherElement): properties, then children; null children are left out. */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-")) element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** Told to screen readers once, when they are silent. */
export function announce(text) {
  byId("announce").textContent = text;
}

export const reducedMotion = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** "en-us+f3", as espeak-ng names it, is "American English, female voice". */
export function voiceText(voice) {
  if (!voice) return "";
  const [, language, , sex] = /^([a-z]{2,3}(?:-[a-z]{2,4})?)[^+]*(\+([fm]))?/i.exec(voice) ?? [];
  let name = null;
  try {
    name = language && new Intl.DisplayNames(["en"], { type: "language" }).of(language);
  } catch {
    // not a language's tag
  }
  if (!name) return `Voice ${voice}`;
  return sex ? `${name}, ${sex === "f" ? "female" : "male"} voice` : name;
}

/** "ada" is shown as "Ada". */
export const nameOf = (id) => id.charAt(0).toUpperCase() + id.slice(1).replaceAll(/[_-]/g, " ");
