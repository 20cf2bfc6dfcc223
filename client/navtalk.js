// A live session with an avatar of a navtalk gateway: sound or text in, a talking face out.
//
//   const session = new Session(canvas, { avatar: "ada" });
//   session.addEventListener("ready", () => session.say("Hello."));
//   await session.start();      // in answer to a click or a key: browsers allow sound only then
//
// navtalk.d.ts has the types. Wire format: docs/protocol.md. One object is one session.
import { KIND_PCM, KIND_VIDEO, parseFrame } from "./navtalk/frames.js";
import { SessionClock } from "./navtalk/clock.js";
import { Connection } from "./navtalk/connection.js";
import { avatars } from "./navtalk/gateway.js";
import { Input } from "./navtalk/input.js";
import { LatencyMeter } from "./navtalk/latency.js";
import { microphones } from "./navtalk/microphone.js";
import { PictureView } from "./navtalk/pictures.js";
import { SoundPlayer } from "./navtalk/sound.js";
import { Mean, RateMeter } from "./navtalk/statistics.js";
import { decodeFile } from "./navtalk/files.js";
import { missingFeature } from "./navtalk/support.js";

export { avatars, decodeFile, microphones, missingFeature };

const MOST_EVENT_WAIT_MS = 1000;
const SOUND_WITHIN_MS = 1500;

export class Session extends EventTarget {
  #canvas;
  #options;
  #connection;
  #clock = new SessionClock();
  #pictures = null;
  #sound = null;
  #context = null;
  #ready = null;
  #latency = new LatencyMeter();
  #drawn = new RateMeter();
  #received = new RateMeter();
  #drift = new Mean(50);
  #tier = null;
  #follow = 0;
  #volume = 1;
  #seen = false; // a picture was drawn
  #speaks = false; // somebody does, by the last event of it
  #doubtsSpeech = false; // an event may have been lost with the connection: the next picture tells
  #interruptions = 0;
  #input;
  #foreign = false; // other sound than the microphone's is still to come back

  /**
   * `canvas` shows the avatar; its size in pixels is set to the video's.
   * `options`: {avatar, server: "" (this page's), width, bitrate, rate: 16000, token, context}. `token`: a browser token, or
   * a function that gets one, or a promise of it.
   */
  constructor(canvas, options = {}) {
    super();
    this.#canvas = canvas;
    this.#options = { server: "", rate: 16000, ...options };
    this.#connection = new Connection(this.#options.server, this.#options.token, {
      start: () => this.#startFrame(),
      event: (frame, resumed) => this.#event(frame, resumed),
      media: (data) => this.#media(data),
      tell: (type) => this.#tell(type),
      over: (reason) => this.#over(reason),
    });
    this.#input = new Input(this.#options.rate, {
      socket: () => this.#connection.socket,
      sound: (bytes) => this.#sendSound(bytes),
      control: (frame) => this.#connection.control(frame),
      ended: () => this.state === "ended",
      distrust: () => this.#distrust(),
      trust: () => this.#foreign || this.#latency.forget(),
    });
  }

  get state() {
    return this.#connection.state;
  }

  /** What session.ready said; null before. */
  get ready() {
    return this.#ready;
  }

  /** Begins. Resolves when sound can be played and the connection is being made. */
  async start() {
    const missing = await missingFeature();
    if (missing) throw Object.assign(new Error(`this browser lacks what a session needs: ${missing}`), { code: missing });
    this.#context = this.#options.context ?? new AudioContext({ latencyHint: "interactive" });
    const worklet = (name) => this.#context.audioWorklet.addModule(new URL(`./navtalk/${name}-worklet.js`, import.meta.url));
    this.#context.resume(); // it waits until the user has touched the page
    await Promise.all([worklet("playback"), worklet("capture")]);
    await this.#connection.getToken();
    if (this.state === "ended") return;
    this.#sound = new SoundPlayer(this.#context, this.#clock);
    this.#sound.volume = this.#volume;
    this.#follow = setInterval(() => this.#sound.follow(), 250);
    this.#pictures = new PictureView(this.#canvas, this.#clock, {
      wantKeyFrame: () => this.#connection.control({ type: "keyframe" }),
      failed: () => {
        this.#connection.control({ type: "session.end" });
        this.#connection.end({ code: "h264", message: "this browser cannot decode the pictures" });
      },
      drawn: () => {
        this.#drawn.count(performance.now());
        if (!this.#seen) this.#tell("picture");
        this.#seen = true;
        if (this.#clock.sound) this.#drift.add(this.#pictures.driftMs);
      },
    });
    this.#connection.connect();
  }

  /** A text that the avatar speaks after what was sent before it; a long one is sent in pieces. `voice`: espeak-ng's name of one.
      Throws a RangeError that is written for users for a text of more than 100,000 bytes. */
  say(text, voice) {
    return this.#input.say(text, voice);
  }

  /** Sound: Float32Array from -1 to 1, mono, at the session's rate. */
  send(samples) {
    return this.#input.send(samples);
  }

  /** What was sent is all of an utterance. */
  endInput() {
    return this.#input.end();
  }

  /** A sound file, at most two minutes; what is said and sent meanwhile follows it. Resolves with its length in seconds when it is
      sent; with 0 when it was not: interrupt(), another file, or no session to send to. */
  sendFile(file) {
    return this.#input.sendFile(file);
  }

  #sendSound(bytes) {
    if (!this.#connection.sound(bytes)) return false;
    this.#latency.samplesSent(bytes.byteLength / 2, performance.now());
    return true;
  }

  /** Opens the microphone and shows its level; what it hears is sent while talk(true). */
  openMicrophone(deviceId) {
    return this.#input.openMicrophone(this.#context, deviceId, {
      onLevel: (level) => this.#tell("level", { level }),
      onEnded: () => this.#tell("microphone-lost"),
    });
  }

  talk(sending) {
    this.#input.talk(sending);
  }

  closeMicrophone() {
    this.#input.closeMicrophone();
  }

  /** Silent and still, at once; what waits is forgotten. */
  interrupt() {
    this.#input.forgetFile();
    this.#distrust();
    this.#sound?.clear();
    return this.#connection.control({ type: "interrupt" });
  }

  /** One of ready.actions, once; "idle" or "listening": what silence shows from now on. */
  play(action) {
    return this.#connection.control({ type: "action", name: action });
  }

  /** To be called in answer to a click or a key, after "sound-blocked". */
  resumeSound() {
    return this.#context?.resume();
  }

  /** 0 to 1. */
  set volume(value) {
    this.#volume = value;
    if (this.#sound) this.#sound.volume = value;
  }

  /** How the session is: times in milliseconds, null where nothing was measured. */
  statistics() {
    const now = performance.now();
    const counts = this.#pictures?.counts ?? {};
    return {
      state: this.state,
      latency: { median: this.#latency.quantile(0.5), p95: this.#latency.quantile(0.95) },
      fps: this.#drawn.rate(now),
      tier: this.#tier,
      drift: this.#drift.value,
      delay: this.#clock.offset === null ? null : this.#clock.delayMs,
      soundWaiting: this.#sound?.waitingMs ?? 0,
      pictures: { decoded: 0, drawn: 0, late: 0, lost: 0, ...counts },
      kbitPerS: (this.#received.rate(now) * 8) / 1000,
      video: this.#ready?.video ?? null,
    };
  }

  /** Ends the session. */
  end() {
    this.#connection.control({ type: "session.end" });
    this.#connection.end(null);
  }

  // --- what the gateway says

  #startFrame() {
    const { avatar, width, bitrate, rate } = this.#options;
    return { type: "session.start", avatar, video: { width, bitrate }, audio: { rate } };
  }

  #distrust() {
    this.#foreign = true;
    this.#latency.distrust();
  }

  #tell(type, detail = {}) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }

  // When what has that time is heard and seen here.
  #inTime(timeUs, act) {
    const time = this.#clock.timeAt(performance.now()) ?? timeUs;
    setTimeout(act, Math.max(0, Math.min(MOST_EVENT_WAIT_MS, (timeUs - time) / 1000)));
  }

  // Then, unless it was interrupted before.
  #tellInTime(type, frame) {
    const before = this.#interruptions;
    this.#inTime(frame.pts_us, () => this.state === "ready" && before === this.#interruptions && this.#tell(type, frame));
  }

  #event(frame, resumed) {
    switch (frame.type) {
      case "queue.update":
        return this.#tell("queue", frame);
      case "session.preparing":
        return this.state !== "ready" && this.#tell("preparing", frame);
      case "session.ready":
        return this.#begin(frame, resumed);
      case "session.draining":
        return this.#tell("draining", frame);
      case "session.undrained":
        return this.#tell("undrained");
      case "speech.started":
        this.#speaks = true;
        return this.#tellInTime("speech-started", frame);
      case "speech.ended":
        this.#foreign = false;
        this.#speaks = false;
        return this.#tellInTime("speech-ended", frame);
      case "interrupted":
        this.#foreign = false;
        this.#speaks = false;
        this.#interruptions += 1;
        this.#sound.clear(); // what was under way when interrupt() was called
        return this.#tell("interrupted", frame);
      case "action.started":
        return this.#tellInTime("action-started", frame);
      case "action.ended":
        return this.#tellInTime("action-ended", frame);
      case "quality":
        this.#tier = frame.fps;
        return this.#tell("quality", frame);
      case "worker.changed":
        return this.#changeWorker(frame);
      case "error":
        return this.#tell("problem", frame);
    }
  }

  #begin(frame, resumed) {
    this.#ready = frame;
    this.#tier = frame.video.fps;
    this.#doubtsSpeech = resumed;
    this.#clock.reset();
    this.#latency.forget();
    this.#pictures.configure(frame.video);
    this.#pictures.forgetSequence();
    this.#sound.clear();
    this.#tell(resumed ? "resumed" : "ready", frame);
    if (!this.#context.currentTime) setTimeout(() => this.#tellIfSilent(), SOUND_WITHIN_MS);
  }

  // Its speech, action, texts and sound were lost with the worker before it; it tells no end of them.
  #changeWorker(frame) {
    if (!this.#ready) return;
    const { video = this.#ready.video, audio = this.#ready.audio } = frame;
    const same = ["codec", "width", "height"].every((name) => video[name] === this.#ready.video[name]);
    this.#ready = { ...this.#ready, video, audio };
    this.#tier = video.fps;
    this.#foreign = this.#speaks = this.#doubtsSpeech = false;
    this.#interruptions += 1; // what was to be told in time
    this.#input.forgetFile();
    this.#latency.forget();
    if (!same) this.#pictures.configure(video);
    this.#pictures.forgetSequence();
    this.#tell("worker-changed", frame);
  }

  #tellIfSilent() {
    if (this.state === "ready" && this.#context.state !== "running") this.#tell("sound-blocked");
  }

  #media(data) {
    const frame = parseFrame(data);
    if (!frame) return;
    const now = performance.now();
    this.#received.count(now, data.byteLength);
    if (frame.kind === KIND_VIDEO) {
      this.#latency.pictureArrived(frame.timeUs, now);
      this.#pictures.take(frame);
      if (this.#doubtsSpeech) this.#seeSpeech(frame);
    } else if (frame.kind === KIND_PCM) {
      this.#latency.soundArrived(frame.timeUs, frame.content.byteLength / 2);
      this.#sound.play(frame, this.#ready.audio.rate);
    }
  }

  // Of the first picture after a resume: it says the same as the events, which are not repeated.
  #seeSpeech({ speaks, timeUs }) {
    this.#doubtsSpeech = false;
    if (speaks !== this.#speaks) this.#event({ type: speaks ? "speech.started" : "speech.ended", pts_us: timeUs });
  }

  // `reason`: {code, message, retry_after}; null: it was ended here.
  #over(reason) {
    clearInterval(this.#follow);
    this.#input.closeMicrophone();
    this.#pictures?.close();
    this.#sound?.clear();
    this.#sound?.close();
    if (!this.#options.context) this.#context?.close();
    this.#tell("ended", { reason });
  }
}
