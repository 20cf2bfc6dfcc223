// The avatar on the whole screen, with its subtitle and buttons.
import { byId } from "./elements.js";

export function toggleFullScreen() {
  if (document.fullscreenElement) document.exitFullscreen();
  else byId("stage").requestFullscreen?.().catch(() => {}); // refused: the page stays as it is
}

export function offerFullScreen() {
  const button = byId("full-screen");
  button.hidden = !document.fullscreenEnabled;
  button.addEventListener("click", toggleFullScreen);
  document.addEventListener("fullscreenchange", () => {
    const full = document.fullscreenElement !== null;
    button.setAttribute("aria-pressed", String(full));
    byId("full-screen-icon").setAttribute("href", full ? "#i-window" : "#i-screen");
  });
}
