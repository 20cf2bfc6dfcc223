// The jitter buffer of a session's sound, on the audio thread. Pieces of sound come with the time at
// which they are due; they are played at that time, a little faster or slower until they are.
//
// in:  {piece: Float32Array, rate, timeUs, gap}   sound of that session time; gap: it does not go on
//                                                 where the last piece ended
//      {offset}                                   due = timeUs / 1e6 + offset, on the context's clock (s)
//      {clear: true}                              forget what waits
// out: {timeUs, at, waiting, rate}                the sound of timeUs leaves at context time `at`
//      {idle: true}                               nothing is played any more

const REPORT_S = 0.04;
const MOST_FASTER = 0.06;
const MOST_SLOWER = 0.04;
const TOLERANCE_S = 0.01; // of being early or late
const FADE = 1 / 64;
const SKIP_QUIET_S = 0.08; // late by more: silence is left out
const SKIP_S = 1.2; // late by more: anything is
const QUIET = 0.006;
const PAUSE_EARLY_S = 0.06; // early by more: it waits where it is quiet

class Playback extends AudioWorkletProcessor {
  constructor() {
    super();
    this.pieces = [];
    this.offset = null;
    this.position = 0; // in samples of the first piece
    this.playing = false;
    this.gain = 0;
    this.last = 0;
    this.reported = 0;
    this.port.onmessage = ({ data }) => {
      if (data.clear) this.clear();
      if (data.offset !== undefined) this.offset = data.offset;
      if (data.piece) this.pieces.push(data);
    };
  }

  clear() {
    this.pieces = [];
    this.position = 0;
    this.stop();
  }

  stop() {
    if (this.playing) this.port.postMessage({ idle: true });
    this.playing = false;
  }

  waiting() {
    const all = this.pieces.reduce((sum, one) => sum + one.piece.length / one.rate, 0);
    return this.pieces.length > 0 ? all - this.position / this.pieces[0].rate : 0;
  }

  // The session time of what is played next, in seconds.
  now() {
    const first = this.pieces[0];
    return first.timeUs / 1e6 + this.position / first.rate;
  }

  // Positive: the sound is behind its time.
  late(at) {
    return at - (this.now() + this.offset);
  }

  next() {
    this.pieces.shift();
    this.position = 0;
    if (this.pieces.length === 0 || this.pieces[0].gap) this.stop();
  }

  // Leaves out what makes the sound late: silence first.
  catchUp(at) {
    while (this.pieces.length > 1) {
      const late = this.late(at);
      if (late < SKIP_QUIET_S) return;
      const first = this.pieces[0].piece;
      if (late < SKIP_S && first.some((sample) => Math.abs(sample) > QUIET)) return;
      this.next();
      this.gain = 0;
    }
  }

  // Waits for its time where nobody hears it wait.
  pauseIfEarly(at) {
    if (this.late(at) > -PAUSE_EARLY_S) return;
    const { piece } = this.pieces[0];
    const begin = Math.floor(this.position);
    const block = piece.subarray(begin, begin + 64);
    if (block.every((sample) => Math.abs(sample) < QUIET)) this.stop();
  }

  sample() {
    const { piece } = this.pieces[0];
    const index = Math.floor(this.position);
    const following = index + 1 < piece.length ? piece[index + 1] : this.pieces[1]?.piece[0] ?? piece[index];
    return piece[index] + (following - piece[index]) * (this.position - index);
  }

  speed(at) {
    const late = this.late(at);
    if (Math.abs(late) < TOLERANCE_S) return 1;
    return 1 + Math.max(-MOST_SLOWER, Math.min(MOST_FASTER, late / 2));
  }

  process(_inputs, [channels]) {
    const output = channels[0];
    if (this.pieces.length > 0 && this.offset !== null) this.catchUp(currentTime);
    if (this.playing && this.pieces.length > 0) this.pauseIfEarly(currentTime);
    let speed = this.playing && this.pieces.length > 0 ? this.speed(currentTime) : 1;
    for (let i = 0; i < output.length; i++) {
      const at = currentTime + i / sampleRate;
      if (!this.playing && this.pieces.length > 0 && this.offset !== null && this.late(at) >= 0) {
        this.playing = true;
        this.gain = 0;
        speed = 1;
      }
      if (this.playing && this.pieces.length > 0) {
        this.gain = Math.min(1, this.gain + FADE);
        this.last = this.sample() * this.gain;
        output[i] = this.last;
        this.position += (this.pieces[0].rate / sampleRate) * speed;
        if (this.position >= this.pieces[0].piece.length) this.advance();
      } else {
        // What ran out fades.
        this.last *= 1 - FADE;
        output[i] = this.last;
      }
    }
    for (let channel = 1; channel < channels.length; channel++) channels[channel].set(output);
    this.report(speed);
    return true;
  }

  advance() {
    const over = this.position - this.pieces[0].piece.length;
    this.next();
    if (this.playing) this.position = over;
  }

  report(rate) {
    if (!this.playing || this.pieces.length === 0 || currentTime - this.reported < REPORT_S) return;
    this.reported = currentTime;
    const at = currentTime + 128 / sampleRate;
    this.port.postMessage({ timeUs: this.now() * 1e6, at, waiting: this.waiting(), rate });
  }
}

registerProcessor("navtalk-playback", Playback);
