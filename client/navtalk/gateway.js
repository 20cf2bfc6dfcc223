// Where a gateway is asked, and for its avatars.
import { refusalOf } from "./refusal.js";

/** [{id, width, height, fps, loop, voice, actions, preview, preview_part}]; preview is a URL or null. `headers`: of the request,
    such as the key of a program. Rejects with an error that has a `code`. */
export async function avatars(server = "", headers = {}) {
  const answer = await fetch(`${server}/v1/avatars`, { headers: { Accept: "application/json", ...headers } });
  if (!answer.ok) throw await refusalOf(answer);
  const body = await answer.json();
  return body.avatars.map((one) => ({ ...one, preview: one.preview && server + one.preview }));
}

/** Of live sessions. `server`: origin of the gateway; "": this page's. */
export function realtimeAddress(server) {
  const base = new URL(server || "/", globalThis.location?.href);
  base.protocol = base.protocol.replace("http", "ws");
  return new URL("/v1/realtime", base);
}
