// Sound of a microphone as pieces of 20 ms at the session's rate, on the audio thread: low-pass, then
// one sample in so many. out: {piece: Float32Array, level}, level 0 to 1 (peak of the piece).

const TAPS = 48; // of the low-pass, for each output sample
const PIECE_S = 0.02;

class Capture extends AudioWorkletProcessor {
  constructor({ processorOptions }) {
    super();
    this.rate = processorOptions.rate;
    this.step = sampleRate / this.rate;
    this.half = Math.max(1, Math.round((TAPS / 2) * Math.max(1, this.step) / 3));
    this.cutoff = Math.min(1, 1 / this.step) * 0.94;
    this.heard = new Float32Array(0);
    this.position = this.half;
    this.piece = new Float32Array(Math.round(this.rate * PIECE_S));
    this.filled = 0;
  }

  // A windowed sinc around a position between samples.
  at(position) {
    const centre = Math.floor(position);
    let sum = 0, weights = 0;
    for (let i = centre - this.half + 1; i <= centre + this.half; i++) {
      const distance = (i - position) * this.cutoff;
      const sinc = distance === 0 ? 1 : Math.sin(Math.PI * distance) / (Math.PI * distance);
      const weight = sinc * (0.5 + 0.5 * Math.cos((Math.PI * (i - position)) / (this.half + 1)));
      sum += weight * this.heard[i];
      weights += weight;
    }
    return sum / weights;
  }

  process([channels]) {
    if (channels.length === 0) return true;
    const mono = channels[0];
    const joined = new Float32Array(this.heard.length + mono.length);
    joined.set(this.heard);
    joined.set(mono, this.heard.length);
    this.heard = joined;
    for (; this.position + this.half + 1 < this.heard.length; this.position += this.step) {
      this.piece[this.filled++] = this.at(this.position);
      if (this.filled === this.piece.length) this.send();
    }
    const done = Math.max(0, Math.floor(this.position) - this.half);
    this.heard = this.heard.slice(done);
    this.position -= done;
    return true;
  }

  send() {
    const level = this.piece.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
    this.port.postMessage({ piece: this.piece.slice(), level });
    this.filled = 0;
  }
}

registerProcessor("navtalk-capture", Capture);
