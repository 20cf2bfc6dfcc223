// The page: a gallery, then a session with the avatar that was chosen.
import { Session, missingFeature } from "../navtalk.js";
import { forgetKey, tokenFor } from "./access.js";
import { Actions } from "./actions.js";
import { Captions } from "./captions.js";
import { Choices } from "./choices.js";
import { Composer } from "./composer.js";
import { DrainNotice } from "./drain_notice.js";
import { explainProblem } from "./errors.js";
import { byId, announce, nameOf, voiceText } from "./elements.js";
import { offerFullScreen, toggleFullScreen } from "./full_screen.js";
import { playPreviews, showGallery } from "./gallery.js";
import { Loudness } from "./loudness.js";
import { Stage } from "./stage.js";
import { StatisticsPanel } from "./statistics.js";
import { Voice } from "./voice.js";
import { followTheme } from "./theme.js";

let session = null;
let avatar = null;
let avatars = []; // to choose from
let fewer = false; // pictures than the session began with
let early = []; // texts that were given before the session was ready
let spaceHeld = false; // since it was pressed outside of a field

const captions = new Captions({ again: say, settled: interruptible });
const drain = new DrainNotice();
const statistics = new StatisticsPanel();
const stage = new Stage({ leave, again: () => begin(avatar, true), anotherKey });
const voice = new Voice({ talked, listens: (sending) => stage.listening(sending) });
const composer = new Composer({ say, send });
const choices = new Choices({ change: (chosen) => changeAvatar(chosen) });
const loudness = new Loudness((volume) => session && (session.volume = volume));
const actions = new Actions({ play: (name) => session?.play(name) });

function status(text, tone = "") {
  const element = byId("status");
  element.hidden = !text;
  element.textContent = text;
  element.dataset.tone = tone;
}

// While the server makes fewer pictures: how many are seen.
function showRate() {
  if (session?.state !== "ready") return;
  const { fps, tier } = session.statistics();
  status(fewer ? `Live, ${Math.round(fps) || tier} fps` : "Live", "live");
}

function view(name) {
  document.body.dataset.view = name;
  byId("gallery").hidden = name !== "gallery";
  byId("session").hidden = name !== "session";
  playPreviews(name === "gallery");
}

function say(text) {
  try {
    if (!session) return false;
    if (!session.ready) {
      early.push({ text, item: captions.add("Typed", text) });
    } else {
      if (!session.say(text)) return false;
      captions.add("Typed", text);
    }
  } catch (error) {
    problem(error.message);
    return false;
  }
  accepted();
  return true;
}

// What was typed in the queue.
function sayEarly() {
  for (const { text, item } of early.splice(0)) {
    try {
      session.say(text);
    } catch (error) {
      captions.refused(item);
      problem(error.message);
    }
  }
}

async function send(file) {
  const item = captions.add("File", file.name);
  accepted();
  try {
    if (!(await session.sendFile(file))) captions.stopped(item);
  } catch (error) {
    captions.remove(item);
    problem(error.message);
  }
}

function talked() {
  captions.add("Microphone", "Your voice");
  accepted();
}

// Something new is under way: what went wrong before is over.
function accepted() {
  composer.tell("");
  interruptible();
}

function problem(text) {
  composer.tell(text, "alarm");
}

function interruptible() {
  byId("interrupt").disabled = !stage.speaks && !captions.open;
}

// Whether there is a session to send to.
function use(usable) {
  composer.use(nameOf(avatar.id), usable);
  captions.use(usable);
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
      composer.tell("A text that you write now is spoken when it is your turn.");
      stage.queue(detail);
    }
  });
  on("preparing", (detail) => {
    status("Preparing");
    stage.preparing(detail);
  });
  on("ready", (ready) => {
    actions.show(ready.actions);
    fewer = false;
    status("Live", "live");
    composer.tell("");
    stage.live();
    captions.invite(`${nameOf(avatar.id)} is ready. Type a sentence, hold the microphone, or send a sound file.`);
    use(true);
    sayEarly();
    interruptible();
    if (!document.activeElement?.matches(".choices select")) byId("text").focus({ preventScroll: true });
  });
  on("picture", () => stage.pictured());
  on("reconnecting", () => {
    status("Reconnecting", "alarm");
    stage.connecting("Reconnecting");
  });
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
    interruptible();
  });
  on("speech-ended", () => {
    stage.speaking(false);
    captions.speechEnded();
    interruptible();
  });
  on("interrupted", () => {
    stage.speaking(false);
    captions.interrupted();
  });
  on("action-started", ({ name }) => actions.seen(name));
  on("action-ended", () => actions.seen(null));
  on("quality", ({ fps }) => {
    fewer = fps < one.ready.video.fps;
    showRate();
  });
  on("worker-changed", () => {
    drain.clear(); // it was the lost computer's
    fewer = false;
    actions.seen(null);
    use(true);
    captions.lost();
    status("Live", "live");
    stage.speaking(false);
    stage.live();
    interruptible();
    announce("The avatar moved to another computer. The session goes on.");
  });
  on("draining", ({ notice_s }) => drain.show(notice_s));
  on("undrained", () => drain.undone());
  on("sound-blocked", () => problem("Your browser plays no sound. Click the picture, and check that it has a loudspeaker to play on."));
  on("problem", (detail) => {
    if (["not_found", "invalid", "not_spoken"].includes(detail.code)) captions.refusedNext(detail.code === "invalid");
    problem(explainProblem(detail));
  });
  on("ended", ({ reason }) => {
    session = null;
    early = [];
    use(false);
    drain.clear();
    captions.lost();
    captions.invite("");
    composer.tell("");
    voice.use(null);
    statistics.follow(null);
    if (reason) {
      status("Not connected", "alarm");
      stage.failed(reason);
    }
  });
}

// `again`: with the avatar of before, whose log stays.
async function begin(chosen, again = false) {
  avatar = chosen;
  const name = nameOf(avatar.id);
  view("session");
  byId("name").textContent = name;
  byId("about").textContent = voiceText(avatar.voice);
  choices.show(avatar, avatars);
  if (!again) captions.clear();
  captions.use(false);
  composer.use(name, false, true);
  actions.show();
  stage.show(avatar);
  status("Connecting");
  scrollTo(0, 0);
  const one = new Session(byId("canvas"), { avatar: avatar.id, token: () => tokenFor(chosen) });
  session = one;
  listen(one);
  voice.use(one);
  statistics.follow(one);
  one.volume = loudness.volume;
  try {
    await one.start();
  } catch (error) {
    if (session !== one) return;
    session = null;
    early = [];
    captions.lost();
    use(false);
    composer.tell("");
    one.end();
    statistics.follow(null);
    status("Not connected", "alarm");
    stage.failed({ code: error.code ?? (await missingFeature()) ?? "failed", message: error.message });
  }
}

// The session of now is over, and no other one begins by itself.
function end() {
  const one = session;
  session = null;
  early = [];
  one?.end();
  drain.clear();
  statistics.follow(null);
  voice.use(null);
  status("");
}

// The log stays, and so does the focus.
function changeAvatar(chosen) {
  end();
  captions.lost();
  begin(chosen, true);
}

function leave() {
  end();
  if (document.fullscreenElement) document.exitFullscreen();
  view("gallery");
  byId("cards").querySelector(`[data-avatar="${CSS.escape(avatar.id)}"]`)?.focus();
}

function choose(chosen, all) {
  avatars = all;
  begin(chosen);
}

function anotherKey() {
  forgetKey();
  leave();
  showGallery(choose, true);
}

function interrupt() {
  if (session?.interrupt()) captions.interrupting();
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
  if (field && event.target.closest("textarea, select, input:not([type=radio], [type=range])")) return;
  const actions = { s: () => session && statistics.toggle(), m: () => loudness.mute(), f: toggleFullScreen, "/": () => byId("text").focus(), "?": () => byId("keys").showModal() };
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

setInterval(() => fewer && showRate(), 1000);
followTheme();
offerFullScreen();
showGallery(choose);
