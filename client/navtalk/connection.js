// The connection of one session to its gateway (docs/protocol.md, "A connection that drops"):
//
//   new ── connect() ──► connecting ──► waiting ──► ready ◄──► resuming
//                            ▲             │  once, anew
//                            └─────────────┘             any ── end() ──► ended
import { realtimeAddress } from "./gateway.js";
import { Silence } from "./silence.js";

const RESUME_WITHIN_MS = 30000; // the gateway holds a session so long (docs/protocol.md)
const RETRY_MS = [200, 500, 1000, 2000, 4000];

export class Connection {
  #server;
  #token; // of the last connection
  #ask; // for a token
  #link;
  #socket = null;
  #state = "new";
  #silence = new Silence();
  #resumeToken = null;
  #resumeUntil = 0;
  #retries = 0;
  #begunAnew = false; // the connection was lost before the session began
  #ready = false; // the session was, once
  #lastError = null;

  /** `token`: a browser token, or a function that gets one, or a promise of it. `link`, to the session: {start(), its
      session.start; event(frame); media(buffer); tell(type); over(reason), once} */
  constructor(server, token, link) {
    this.#server = server;
    this.#ask = token;
    this.#link = link;
  }

  get state() {
    return this.#state;
  }

  /** The socket of a session that is ready; null. */
  get socket() {
    return this.#state === "ready" ? this.#socket : null;
  }

  async getToken() {
    this.#token = typeof this.#ask === "function" ? await this.#ask() : await this.#ask;
  }

  connect() {
    if (this.#state === "new") this.#state = "connecting";
    const socket = new WebSocket(realtimeAddress(this.#server), this.#token ? [`navtalk.token.${this.#token}`] : []);
    socket.binaryType = "arraybuffer";
    this.#socket = socket;
    socket.onopen = () => {
      this.#silence.end();
      socket.send(JSON.stringify(this.#startFrame()));
    };
    socket.onmessage = ({ data }) => {
      if (socket !== this.#socket) return;
      this.#silence.end();
      if (typeof data === "string") this.#event(JSON.parse(data));
      else this.#media(data);
    };
    socket.onclose = ({ code }) => {
      if (socket === this.#socket) this.#closed(code);
    };
    this.#silence.watch(socket, () => this.#state, () => this.#goneSilent());
  }

  /** Of a session that is ready, else false; session.end at any time. */
  control(frame) {
    if (this.#socket?.readyState !== WebSocket.OPEN) return false;
    if (this.#state !== "ready" && frame.type !== "session.end") return false;
    this.#socket.send(JSON.stringify(frame));
    return true;
  }

  sound(bytes) {
    if (this.socket?.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(bytes);
    return true;
  }

  /** `reason`: {code, message, retry_after}; null: it was ended here. */
  end(reason) {
    if (this.#state === "ended") return;
    this.#state = "ended";
    this.#silence.stop();
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
    this.#link.over(reason);
  }

  #startFrame() {
    const frame = this.#link.start();
    return this.#resumeToken ? { ...frame, resume_token: this.#resumeToken } : frame;
  }

  #event(frame) {
    if (frame.resume_token || frame.type === "session.ready") this.#resumeToken = frame.resume_token ?? null;
    if (frame.type === "error") return this.#failed(frame);
    if (frame.type === "queue.update" || (frame.type === "session.preparing" && this.#state !== "ready")) this.#state = "waiting";
    if (frame.type === "worker.changed" && this.#state === "waiting") this.#state = "ready";
    if (frame.type !== "session.ready") return this.#link.event(frame);
    const resumed = this.#state === "resuming";
    this.#state = "ready";
    this.#ready = true;
    this.#retries = 0;
    this.#lastError = null;
    this.#link.event(frame, resumed);
  }

  #media(data) {
    if (this.#state !== "ready") return;
    this.#lastError = null; // the session went on behind it
    this.#link.media(data);
  }

  // An error in a session that goes on is told; one before its end is kept for the end. While others have the tenant's
  // connections, the next try may succeed.
  #failed(frame) {
    if (this.#state === "resuming" && frame.code === "tenant_limit") return;
    this.#lastError = frame;
    if (this.#state === "ready") this.#link.event(frame);
  }

  #goneSilent() {
    if (this.#state === "connecting" && this.#socket.readyState !== WebSocket.OPEN) this.end({ code: "unreachable", message: "the server does not answer" });
    else this.#closed(1006);
  }

  #closed(code) {
    if (this.#state === "ended") return;
    const told = this.#lastError;
    if (!this.#ready && code === 1006 && !told && this.#mayBeginAnew()) return this.#beginAnew();
    const may = this.#ready && this.#resumeToken && !(told && told.code !== "draining");
    if (!may) return this.end(told ?? { code: code === 1000 ? "ended" : "connection_lost", message: "" });
    const now = performance.now();
    if (this.#state !== "resuming") {
      this.#state = "resuming";
      this.#resumeUntil = now + RESUME_WITHIN_MS;
      this.#link.tell("resuming");
    }
    const pause = RETRY_MS[Math.min(this.#retries++, RETRY_MS.length - 1)];
    if (now + pause > this.#resumeUntil) return this.end({ code: "connection_lost", message: "" });
    this.#leaveSocket();
    setTimeout(() => this.#state === "resuming" && this.connect(), pause);
  }

  // What waits has lost its place, but not its user. A connection that was refused is closed before anything is told.
  #mayBeginAnew() {
    return !this.#begunAnew && (this.#state === "waiting" || this.#socket.readyState === WebSocket.OPEN);
  }

  // Once. Each token is good for one session.
  async #beginAnew() {
    this.#begunAnew = true;
    this.#leaveSocket();
    this.#socket = null;
    this.#state = "connecting";
    this.#link.tell("reconnecting");
    try {
      await this.getToken();
    } catch (error) {
      return this.end({ code: error.code ?? "unreachable", message: error.message });
    }
    if (this.#state === "connecting") this.connect();
  }

  #leaveSocket() {
    this.#silence.stop();
    this.#socket.onclose = this.#socket.onmessage = null;
    this.#socket.close(4000, "no answer"); // without a code it would end the session that is to go on
  }
}
