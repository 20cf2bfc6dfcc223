// What ended a session, or kept it from beginning, in words for its user: what happened and what to do.

const TEXTS = {
  insecure: ["This page was not loaded securely", "Browsers allow sound and video decoding only on https pages, or on this machine. Open the page by https, or at http://127.0.0.1."],
  worklet: ["This browser is too old", "It cannot play sound in time. Use a recent Chrome, Edge, Firefox or Safari."],
  webcodecs: ["This browser cannot decode live video", "It lacks WebCodecs. Use a recent Chrome, Edge, Firefox or Safari."],
  h264: ["This browser cannot play H.264 video", "On Linux install its codecs (for Firefox: ffmpeg's libavcodec), or use Chrome or Chromium."],
  unreachable: ["The server does not answer", "Check that navtalk serve is running on that machine, then try again."],
  connection_lost: ["The connection was lost", "Check that the server is running and your network is up, then start again."],
  no_capacity: ["All avatars are taken", "Nobody became free in time. Try again in a moment."],
  store_unavailable: ["The server cannot assign avatars right now", "Its database does not answer. Try again in a minute."],
  worker_lost: ["The avatar's computer dropped out", "Start again: you get another one."],
  lease_lost: ["Your place was given to someone else", "The server lost track of your session. Start again."],
  superseded: ["Your place was given to someone else", "Start again to get a new one."],
  resume_failed: ["The session is over", "It could not go on after the connection was lost: the server was restarted, or too much time went by. Start again."],
  draining: ["The server is being restarted", "Try again in a minute."],
  drained: ["The session had to end", "The avatar's computer goes out of service. Start again; if nobody is free, try again in a minute."],
  not_found: ["This avatar is no longer there", "Choose another one."],
  invalid: ["The server cannot use this avatar", "Choose another one, or ask the operator to prepare it again."],
  usage: ["The server did not understand this page", "Load the page again: it may be older than the server."],
  overflow: ["Too much was sent at once", "Wait until the avatar has spoken, then send the rest."],
  not_spoken: ["The text could not be spoken", "Try again, or change the text."],
  too_fast: ["The server closed the connection", "Too much was sent before the session began. Start again."],
  unauthorised: ["You may not start here", "The key that was entered has ended, or your time to begin is over. Enter a key again."],
  forbidden: ["This page may not use the server", "Its operator allows other pages only."],
  tenant_limit: ["Too many at once", "As many people use your account as it allows. Try again in a moment."],
  key_revoked: ["Your access was taken back", "The key that was entered is no longer valid. Ask for another one, then enter it."],
  session_over: ["Your time is over", "Start again when you like."],
  failed: ["Something went wrong on the server", "Start again. If it keeps happening, its log says more."],
};

// In a session that goes on, where these codes answer something else.
const PROBLEMS = {
  not_found: "No voice is there to speak this text. Talk, send a sound file, or ask the operator to install a voice.",
  invalid: "There is nothing to speak in this text. Write words.",
  tenant_limit: "Your account sends more than it may. Wait a moment.",
};
const NO_USE = new Set(["insecure", "worklet", "webcodecs", "forbidden"]); // the same again would end the same

/** One line about an error {code, message} in a session that goes on. */
export function explainProblem({ code, message }) {
  if (PROBLEMS[code]) return PROBLEMS[code];
  const [title, text] = TEXTS[code] ?? [];
  return title ? `${title}. ${text}` : message || "Something went wrong.";
}

/** What a user can do after that reason: "key", enter another one; "again"; null: neither. */
export function remedyOf({ code }) {
  if (code === "key_revoked" || code === "unauthorised") return "key";
  return NO_USE.has(code) ? null : "again";
}

/** {title, text} of a reason {code, message}. */
export function explain({ code, message }) {
  const [title, text] = TEXTS[code] ?? ["The session ended", message || "Start again when you like."];
  return { title, text };
}

/** Of a DOMException of getUserMedia. */
export function explainMicrophone(error) {
  switch (error.name) {
    case "NotAllowedError":
      return "The microphone is blocked. Allow it in the address bar, then press the button again.";
    case "NotFoundError":
    case "OverconstrainedError":
      return "No microphone was found. Connect one, then press the button again.";
    case "NotReadableError":
      return "Another program uses the microphone. Close it there, then press the button again.";
    default:
      return "The microphone could not be opened.";
  }
}
