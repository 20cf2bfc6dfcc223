// The API key of a gateway that asks for one. It stays in this page's memory, and no socket gets it: a
// session begins with a browser token, which is good for that session only.
import { avatars } from "../navtalk.js";
import { ServerError, refusalOf } from "../navtalk/refusal.js";
import { byId, make } from "./elements.js";

const SECONDS_TO_BEGIN = 600; // in the queue, too
const TOKEN_WITHIN_MS = 15000;

let key = "";

const headers = () => (key ? { Authorization: `Bearer ${key}` } : {});

/** Throws a ServerError `unauthorised` where a key is needed. */
export const listAvatars = () => avatars("", headers());

/** The URL at which this page may show an avatar's preview, null where there is none. It holds the preview in memory where a key is
    needed, until URL.revokeObjectURL(): a video element sends no key. */
export async function openPreview(avatar, signal) {
  if (!avatar.preview || !key) return avatar.preview;
  try {
    const answer = await fetch(avatar.preview, { headers: headers(), signal });
    return answer.ok ? URL.createObjectURL(await answer.blob()) : null;
  } catch {
    return null;
  }
}

/** A browser token for one session with that avatar; undefined where none is needed. */
export async function tokenFor(avatar) {
  if (!key) return undefined;
  const answer = await fetch("/v1/client-tokens", {
    method: "POST",
    headers: { ...headers(), "Content-Type": "application/json" },
    body: JSON.stringify({ avatar: avatar.id, origin: location.origin, ttl_s: SECONDS_TO_BEGIN }),
    signal: AbortSignal.timeout(TOKEN_WITHIN_MS), // a connection that is gone may say nothing for minutes
  }).catch(() => null);
  if (!answer) throw new ServerError("unreachable", "the server does not answer");
  if (!answer.ok) throw await refusalOf(answer);
  return (await answer.json()).token;
}

/** Asks for the key in that element; calls done() when one was entered. `wrong`: the last one was refused. */
export function askForKey(place, wrong, done) {
  const field = make("input", { id: "key", type: "password", autocomplete: "off", required: true });
  const form = make("form", { className: "sign-in" },
    make("h2", {}, "This server needs an API key"),
    make("p", {}, "Its operator makes one with navtalk key create. This page forgets it when it is closed."),
    make("label", { htmlFor: "key" }, "API key"), field,
    make("p", { className: "problem", id: "key-problem", role: "alert" }, wrong),
    make("button", { className: "primary" }, "Show the avatars"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    key = field.value.trim();
    done();
  });
  place.replaceChildren(form);
  place.hidden = false;
  place.removeAttribute("role");
  field.focus();
}

export function forgetKey() {
  key = "";
}

export const hasKey = () => key !== "";
