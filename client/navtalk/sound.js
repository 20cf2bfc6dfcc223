// Plays a session's sound in time, and tells the session's clock what is heard.
import { samplesOf } from "./frames.js";

export class SoundPlayer {
  /** `context`: an AudioContext with the playback worklet loaded. */
  constructor(context, clock) {
    this.context = context;
    this.clock = clock;
    this.waitingMs = 0;
    this.volumeNode = new GainNode(context);
    this.node = new AudioWorkletNode(context, "navtalk-playback", { numberOfInputs: 0, outputChannelCount: [1] });
    this.node.connect(this.volumeNode).connect(context.destination);
    this.node.port.onmessage = ({ data }) => this.#report(data);
    this.peak = 0; // of the last sound that came
  }

  #report(data) {
    if (data.idle) {
      this.waitingMs = 0;
      this.clock.soundHeard(null);
      return;
    }
    this.waitingMs = data.waiting * 1000;
    this.clock.soundHeard({ timeUs: data.timeUs, at: this.#localTime(data.at) + this.#latencyMs() });
  }

  // Between the worklet and the ear.
  #latencyMs() {
    return ((this.context.outputLatency || 0) + (this.context.baseLatency || 0)) * 1000;
  }

  #localTime(contextTime) {
    return performance.now() + (contextTime - this.context.currentTime) * 1000;
  }

  /** Sound of a binary frame. */
  play(frame, rate) {
    const piece = samplesOf(frame.content);
    this.peak = piece.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
    this.node.port.postMessage({ piece, rate, timeUs: frame.timeUs, gap: frame.discontinuity }, [piece.buffer]);
    this.follow();
  }

  /** Tells the worklet when sound is due, by the clock. */
  follow() {
    if (this.clock.offset === null) return;
    const contextAtZero = this.context.currentTime - performance.now() / 1000;
    const offset = this.clock.offset / 1000 + contextAtZero - this.#latencyMs() / 1000;
    this.node.port.postMessage({ offset });
  }

  set volume(value) {
    this.volumeNode.gain.setTargetAtTime(value, this.context.currentTime, 0.02);
  }

  clear() {
    this.node.port.postMessage({ clear: true });
  }

  close() {
    this.node.disconnect();
    this.volumeNode.disconnect();
    this.node.port.close();
  }
}
