// Light or dark: what the system says, until the user chooses.
import { byId } from "./elements.js";

const KEY = "navtalk-theme";
const system = matchMedia("(prefers-color-scheme: dark)");

const stored = () => {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null; // a browser that keeps nothing
  }
};

function apply() {
  document.documentElement.dataset.theme = stored() ?? (system.matches ? "dark" : "light");
}

export function followTheme() {
  apply();
  system.addEventListener("change", apply);
  byId("theme-button").addEventListener("click", () => {
    const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    try {
      localStorage.setItem(KEY, next);
    } catch {
      // It holds for this page only.
    }
    document.documentElement.dataset.theme = next;
  });
}
