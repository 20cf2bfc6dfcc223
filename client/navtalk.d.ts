/** An avatar of a gateway. */
export interface Avatar {
  id: string;
  width: number;
  height: number;
  /** Of its clip: a number, or a text such as "30000/1001". */
  fps: number | string;
  loop: boolean;
  /** espeak-ng's name of its voice. */
  voice: string | null;
  /** What Session.play() can have it do. */
  actions: string[];
  /** URL of a short silent MP4. */
  preview: string | null;
  /** What to show of it, in seconds: from, to. null: all of it. */
  preview_part: [number, number] | null;
}

export interface SessionOptions {
  /** An avatar's id; the worker's first one without it. */
  avatar?: string;
  /** Origin of the gateway, such as "http://127.0.0.1:2160"; this page's without it. */
  server?: string;
  /** Of the video, in pixels; the avatar's own without it. */
  width?: number;
  /** Of the video, in bits a second at most. */
  bitrate?: number;
  /** Of the sound in both directions, 8000 to 48000; 16000 without it. */
  rate?: number;
  /** A browser token, or what gets one when the session begins. */
  token?: string | (() => string | undefined | Promise<string | undefined>);
  /** To play into; a session makes and closes one of its own without it. */
  context?: AudioContext;
}

export interface Video {
  codec: string;
  width: number;
  height: number;
  fps: number;
}

export interface Ready {
  session: string | number;
  avatar: string;
  video: Video;
  audio: { codec: string; rate: number };
  /** What play() can have the avatar do. */
  actions?: string[];
  resume_token?: string;
}

/** code: docs/protocol.md lists them; also "connection_lost", "ended", and "h264" (the pictures cannot be decoded here). */
export interface Problem {
  code: string;
  message: string;
  retry_after?: number;
}

export interface Queue {
  position: number | null;
  eta_s: number | null;
  code?: string;
  message?: string;
}

/** What `detail` of each event is. */
export interface SessionEvents {
  /** Also in a session whose worker was lost, until "worker-changed". */
  queue: Queue;
  /** The worker makes what the avatar lacks, at its first use there; total 0: how much is not known. */
  preparing: { done: number; total: number };
  ready: Ready;
  /** The first picture was drawn. */
  picture: {};
  /** The connection was lost before the session began: it is begun once more, with a new token, and another place in the queue. */
  reconnecting: {};
  resuming: {};
  resumed: Ready;
  "speech-started": { pts_us: number };
  "speech-ended": { pts_us: number };
  interrupted: { pts_us: number };
  "action-started": { name: string; pts_us: number };
  "action-ended": { name: string; pts_us: number };
  quality: { fps: number; reason: string };
  /** Another GPU goes on. Speech, an action and what waited are over, without an event of their own. */
  "worker-changed": { gap_s: number; video?: Video; audio?: Ready["audio"] };
  draining: { notice_s: number };
  /** The session goes on after all. */
  undrained: {};
  /** The session goes on. */
  problem: Problem;
  /** Of the microphone, 0 to 1, fifty times a second. */
  level: { level: number };
  "microphone-lost": {};
  /** The browser plays nothing: it waits for a click, or there is nothing to play on. Pictures go on. */
  "sound-blocked": {};
  /** The last event. reason null: end() was called. */
  ended: { reason: Problem | null };
}

export interface Statistics {
  state: "new" | "connecting" | "waiting" | "ready" | "resuming" | "ended";
  /** Milliseconds, of what a microphone sent: docs/client.md says what is measured. */
  latency: { median: number | null; p95: number | null };
  /** Pictures drawn a second. */
  fps: number;
  /** Pictures a second that the worker makes. */
  tier: number | null;
  /** Milliseconds by which the sound that is heard is ahead of the picture that is seen. */
  drift: number | null;
  /** Milliseconds that pictures and sound wait here to be even. */
  delay: number | null;
  soundWaiting: number;
  pictures: { decoded: number; drawn: number; late: number; lost: number };
  kbitPerS: number;
  video: Video | null;
}

export class Session extends EventTarget {
  constructor(canvas: HTMLCanvasElement, options?: SessionOptions);
  readonly state: Statistics["state"];
  /** What session.ready said, with the video and the sound of the last "worker-changed". */
  readonly ready: Ready | null;
  /** To be called in answer to a click or a key. Rejects with a code of missingFeature(). */
  start(): Promise<void>;
  /** False when there is no session to send to, as with all that follow. A long text is sent in pieces, cut between sentences;
      RangeError, with a message for users, beyond 100,000 bytes. */
  say(text: string, voice?: string): boolean;
  send(samples: Float32Array): boolean;
  endInput(): boolean;
  /** Resolves with its seconds when it is sent, with 0 when it was interrupted; what is said and sent meanwhile follows it. */
  sendFile(file: File): Promise<number>;
  /** Rejects with the browser's DOMException. */
  openMicrophone(deviceId?: string): Promise<{ deviceId: string; label: string }>;
  talk(sending: boolean): void;
  closeMicrophone(): void;
  interrupt(): boolean;
  /** One of ready.actions, once; "idle" or "listening": what silence shows from now on. */
  play(action: string): boolean;
  resumeSound(): Promise<void> | undefined;
  set volume(value: number);
  statistics(): Statistics;
  end(): void;
  addEventListener<K extends keyof SessionEvents>(
    type: K,
    listener: (event: CustomEvent<SessionEvents[K]>) => void,
    options?: boolean | AddEventListenerOptions,
  ): void;
}

export function avatars(server?: string, headers?: Record<string, string>): Promise<Avatar[]>;
export function microphones(): Promise<{ deviceId: string; label: string }[]>;
/** Why this browser can have no session; null: it can. */
export function missingFeature(): Promise<"insecure" | "worklet" | "webcodecs" | "h264" | null>;
export function decodeFile(file: File, rate: number): Promise<Float32Array>;
