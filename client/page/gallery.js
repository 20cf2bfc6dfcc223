// The avatars to choose from, each with a moving preview.
import { askForKey, hasKey, listAvatars } from "./access.js";
import { CardPreviews } from "./card_previews.js";
import { explain } from "./errors.js";
import { byId, make, nameOf, reducedMotion, voiceText } from "./elements.js";
import { showPreview } from "./preview_video.js";

const previews = new CardPreviews();

function skeleton() {
  return make("li", {}, make("div", { className: "card skeleton", "aria-hidden": "true" },
    make("div", { className: "media" }), make("div", { className: "text" }, make("div", { className: "bone" }))));
}

const letter = (avatar) => make("div", { className: "letter", "aria-hidden": "true" }, avatar.id.charAt(0));

function preview(avatar) {
  if (!avatar.preview) return letter(avatar);
  const video = make("video", { muted: true, playsInline: true, preload: "auto", tabIndex: -1, "aria-hidden": "true" });
  if (!reducedMotion()) video.autoplay = true;
  video.addEventListener("error", () => video.replaceWith(letter(avatar)), { once: true });
  previews.add(video, avatar, {
    show: (url) => (url ? showPreview(video, url, avatar.preview_part) : video.replaceWith(letter(avatar))),
    hide: () => {
      video.removeAttribute("src");
      video.load();
    },
  });
  return video;
}

// A gateway with keys gives a preview to who sends one, which a video element does not.
const shown = (avatar, url) => ({ ...avatar, preview: url ?? (hasKey() ? null : avatar.preview) });

function card(avatar, choose) {
  const name = nameOf(avatar.id);
  const media = preview(avatar);
  const button = make("button", { className: "card", type: "button", "aria-label": `Start a session with ${name}`, "data-avatar": avatar.id },
    make("div", { className: "media" }, media),
    make("div", { className: "text" },
      make("div", {}, make("strong", {}, name), make("small", {}, voiceText(avatar.voice))),
      make("span", { className: "go" }, "Start")));
  button.addEventListener("click", () => choose(shown(avatar, previews.urlOf(media))));
  return make("li", {}, button);
}

function showNotice({ title, text, command, retry }) {
  const notice = byId("gallery-notice");
  const again = retry ? make("button", { className: "primary", type: "button", onclick: retry }, "Try again") : null;
  notice.replaceChildren(
    make("h2", {}, title), make("p", {}, text),
    ...(command ? [make("code", {}, command)] : []),
    ...(again ? [make("div", { className: "row" }, again)] : []));
  notice.setAttribute("role", "alert");
  notice.hidden = false;
}

/** Previews of a gallery that is not seen stand still. */
export function playPreviews(playing) {
  for (const video of byId("cards").querySelectorAll("video")) {
    if (playing && !reducedMotion()) video.play().catch(() => {});
    else video.pause();
  }
}

/** Calls choose(avatar, all of them) for the one that the user takes. `focus`: the focus was in what the gallery takes the place of. */
export async function showGallery(choose, focus = false) {
  const cards = byId("cards");
  byId("gallery-notice").hidden = true;
  byId("gallery-notice").replaceChildren();
  previews.clear();
  cards.replaceChildren(skeleton(), skeleton());
  cards.setAttribute("aria-busy", "true");
  try {
    const all = await listAvatars();
    cards.replaceChildren(...all.map((avatar) => card(avatar, (one) => choose(one, all.map((other) => shown(other))))));
    if (all.length === 0) {
      showNotice({
        title: "No avatars yet",
        text: "Make one from a short video of a face, and set avatars.path to its folder:",
        command: "navtalk avatar prepare --video you.mp4 --output avatars/you",
        retry: () => showGallery(choose, true),
      });
    }
    if (focus) (cards.querySelector("button") ?? byId("gallery-notice").querySelector("button")).focus();
  } catch (error) {
    cards.replaceChildren();
    const again = () => showGallery(choose, true);
    if (error.code === "unauthorised") {
      askForKey(byId("gallery-notice"), hasKey() ? "The server does not take this key." : "", again);
    } else {
      showNotice({ ...explain({ code: error.code ?? "unreachable", message: error.message }), retry: again });
    }
  }
  cards.setAttribute("aria-busy", "false");
}
