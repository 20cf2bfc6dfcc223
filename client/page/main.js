// The page: a gallery, then a session with the avatar that was chosen.
import { Session, missingFeature } from "../navtalk.js";
import { tokenFor } from "./access.js";
import { Actions } from "./actions.js";
import { Captions } from "./captions.js";
import { Composer } from "./composer.js";
import { DrainNotice } from "./drain_notice.js";
import { byId, announce, nameOf, voiceText } from "./elements.js";
import { playPreviews, showGallery } from "./gallery.js";
import { Stage } from "./stage.js";
import { StatisticsPanel } from "./statistics.js";
import { Voice } from "./voice.js";
import { followTheme } from "./theme.js";

let session = null;
let avatar = null;
let refusal = ""; // of the text that was refused last
let spaceHeld = false; // since it was pressed outside of a field

const captions = new Captions();
const drain = new DrainNotice();
const statistics = new StatisticsPanel();
const stage = new Stage({ leave, again: () => begin(avatar) });
const voice = new Voice({ talked: () => captions.add("Microphone", "Your voice") });
const composer = new Composer({ say, send });
const actions = new Actions({ play: (name) => session?.play(name) });

function status(text, tone = "") {
  const element = byId("status");
  element.hidden = !text;
  element.textContent = text;
  element.dataset.tone = tone;
}

function view(name) {
  document.body.dataset.view = name;
  byId("gallery").hidden = name !== "gallery";
  byId("session").hidden = name !== "session";
  playPreviews(name === "gallery");
}

function say(text) {
  try {
    if (!session?.say(text)) return false;
  } catch (error) {
    refusal = error.message;
    problem(refusal);
    return false;
  }
  if (refusal && byId("voice-hint").textContent === refusal) problem("");
  captions.add("Typed", text);
  return true;
}

async function send(file) {
  const item = captions.add("File", file.name);
  try {
    if (!(await session.sendFile(file))) captions.stopped();
  } catch (error) {
    captions.remove(item);
    problem(error.message);
  }
}

function problem(text) {
  const hint = byId("voice-hint");
  hint.textContent = text;
  hint.dataset.tone = "alarm";
}

// Whether there is a session to send to.
function use(usable) {
  composer.use(nameOf(avatar.id), usable);
  actions.use(usable);
  if (!usable) voice.release();
}

function listen(one) {
  const on = (type, handler) => one.addEventListener(type, ({ detail }) => one === session && handler(detail));
  on("queue", (detail) => {
    if (one.ready) {
      use(false);
      status("Changing computers", "alarm");
      stage.workerLost(detail);
    } else {
      status("In the queue");
      stage.queue(detail);
    }
  });
  on("preparing", (detail) => {
    status("Preparing");
    stage.preparing(detail);
  });
  on("ready", (ready) => {
    actions.show(ready.actions);
    status("Live", "live");
    stage.live();
    captions.clear(nameOf(avatar.id));
    composer.use(nameOf(avatar.id), true);
    byId("text").focus({ preventScroll: true });
  });
  on("picture", () => stage.pictured());
  on("resuming", () => {
    use(false);
    status("Reconnecting", "alarm");
    stage.connecting("Reconnecting");
  });
  on("resumed", () => {
    actions.seen(null);
    use(true);
    status("Live", "live");
    stage.live();
  });
  on("speech-started", () => {
    stage.speaking(true);
    captions.speechStarted();
  });
  on("speech-ended", () => {
    stage.speaking(false);
    captions.speechEnded();
  });
  on("interrupted", () => {
    stage.speaking(false);
    captions.stopped();
  });
  on("action-started", ({ name }) => actions.seen(name));
  on("action-ended", () => actions.seen(null));
  on("quality", ({ fps }) => status(fps < one.ready.video.fps ? `Live, ${fps} fps` : "Live", "live"));
  on("worker-changed", () => {
    drain.clear(); // it was the lost computer's
    actions.seen(null);
    use(true);
    captions.stopped();
    status("Live", "live");
    stage.live();
    announce("The avatar moved to another computer. The session goes on.");
  });
  on("draining", ({ notice_s }) => drain.show(notice_s));
  on("undrained", () => drain.undone());
  on("sound-blocked", () => problem("Your browser plays no sound. Click the picture, and check that it has a loudspeaker to play on."));
  on("problem", ({ message }) => problem(message));
  on("ended", ({ reason }) => {
    session = null;
    use(false);
    drain.clear();
    captions.stopped();
    voice.use(null);
    statistics.follow(null);
    if (reason) {
      status("Not connected", "alarm");
      stage.failed(reason);
    }
  });
}

async function begin(chosen) {
  avatar = chosen;
  const name = nameOf(avatar.id);
  view("session");
  byId("name").textContent = name;
  byId("about").textContent = voiceText(avatar.voice);
  captions.clear("");
  composer.use(name, false);
  actions.show();
  stage.show(avatar);
  status("Connecting");
  scrollTo(0, 0);
  const one = new Session(byId("canvas"), { avatar: avatar.id, token: () => tokenFor(chosen) });
  session = one;
  listen(one);
  voice.use(one);
  statistics.follow(one);
  one.volume = byId("mute").getAttribute("aria-pressed") === "true" ? 0 : 1;
  try {
    await one.start();
  } catch (error) {
    if (session !== one) return;
    session = null;
    one.end();
    statistics.follow(null);
    status("Not connected", "alarm");
    stage.failed({ code: error.code ?? (await missingFeature()) ?? "failed", message: error.message });
  }
}

function leave() {
  const one = session;
  session = null;
  one?.end();
  drain.clear();
  statistics.follow(null);
  voice.use(null);
  status("");
  view("gallery");
  byId("cards").querySelector(`[data-avatar="${CSS.escape(avatar.id)}"]`)?.focus();
}

function interrupt() {
  session?.interrupt();
}

function mute() {
  const button = byId("mute");
  const muted = button.getAttribute("aria-pressed") !== "true";
  button.setAttribute("aria-pressed", String(muted));
  byId("mute-icon").setAttribute("href", muted ? "#i-muted" : "#i-sound");
  if (session) session.volume = muted ? 0 : 1;
}

// Keyboards of other layouts, and remote ones, may name it by one of the two alone.
function isSpace(event) {
  return event.code === "Space" || event.key === " ";
}

function key(event) {
  if (spaceHeld && isSpace(event)) return event.preventDefault(); // it repeats, perhaps in a field by now
  const field = event.target.closest?.("textarea, input, select, button, a, dialog");
  if (event.ctrlKey || event.metaKey || event.altKey || byId("keys").open) return;
  if (event.key === "Escape") return interrupt();
  if (field && event.target.closest("textarea, select, input:not([type=radio])")) return;
  const actions = { s: () => session && statistics.toggle(), m: mute, "/": () => byId("text").focus(), "?": () => byId("keys").showModal() };
  if (isSpace(event) && !field && session) {
    event.preventDefault();
    spaceHeld = true;
    if (!event.repeat) voice.press();
  } else if (actions[event.key]) {
    event.preventDefault();
    actions[event.key]();
  }
}

byId("stage").addEventListener("click", () => session?.resumeSound());
byId("leave").addEventListener("click", leave);
byId("interrupt").addEventListener("click", interrupt);
byId("mute").addEventListener("click", mute);
byId("keys-button").addEventListener("click", () => byId("keys").showModal());
document.addEventListener("keydown", key);
// A microphone that is held sends no longer than that, wherever the focus is when the key is released.
function releaseSpace() {
  if (spaceHeld) voice.release();
  spaceHeld = false;
}

document.addEventListener("keyup", (event) => {
  if (!isSpace(event) || !spaceHeld) return;
  event.preventDefault(); // it presses no button that has the focus by now
  releaseSpace();
});
document.addEventListener("focusin", ({ target }) => spaceHeld && target.matches("textarea, input, select") && voice.release());
document.addEventListener("visibilitychange", () => document.hidden && voice.release());
addEventListener("blur", () => {
  voice.release();
  spaceHeld = false;
});
addEventListener("pagehide", () => session?.end());

followTheme();
showGallery(begin);
