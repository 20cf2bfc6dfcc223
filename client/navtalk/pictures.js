// Decodes a session's pictures with WebCodecs, and draws each at its time. Pictures that are late when
// the next one is due are not drawn.

const MOST_WAITING = 20; // decoded pictures; a hidden page draws none
const MOST_ERRORS = 3; // of decoders, without a picture in between
const EARLY_US = 6000; // the screen shows a picture a little after it was drawn

export class PictureView {
  /** Calls wantKeyFrame() when nothing can be decoded without one, and failed() once when nothing can be decoded at all. */
  constructor(canvas, clock, { wantKeyFrame, drawn, failed }) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d", { alpha: false, desynchronized: true });
    this.clock = clock;
    this.wantKeyFrame = wantKeyFrame;
    this.onDrawn = drawn;
    this.onFailed = failed;
    this.errors = 0;
    this.waiting = [];
    this.counts = { decoded: 0, drawn: 0, late: 0, lost: 0 };
    this.sequence = null;
    this.needsKey = true;
    this.shownUs = null;
    this.animation = requestAnimationFrame(() => this.#draw());
  }

  /** `video` as in session.ready. */
  configure(video) {
    this.video = video;
    this.canvas.width = video.width;
    this.canvas.height = video.height;
    this.errors = 0;
    this.#restart();
  }

  #restart() {
    if (this.decoder && this.decoder.state !== "closed") this.decoder.close();
    this.decoder = new VideoDecoder({
      output: (picture) => this.#decoded(picture),
      error: () => {
        this.errors += 1;
        if (this.errors === MOST_ERRORS) return this.onFailed();
        this.#restart();
        this.wantKeyFrame();
      },
    });
    this.speaking = new Set(); // times of pictures of speech that are being decoded
    const hardwareAcceleration = this.errors > 0 ? "prefer-software" : "no-preference";
    this.decoder.configure({ codec: this.video.codec, optimizeForLatency: true, hardwareAcceleration });
    this.needsKey = true;
  }

  /** A picture of a binary frame. */
  take(frame) {
    const gap = this.sequence !== null && frame.sequence !== this.sequence + 1;
    if (gap && frame.sequence > this.sequence) this.counts.lost += frame.sequence - this.sequence - 1;
    this.sequence = frame.sequence;
    if (frame.key) {
      this.needsKey = false;
    } else if (gap || this.needsKey) {
      if (!this.needsKey) this.wantKeyFrame();
      this.needsKey = true;
    }
    if (this.needsKey) {
      this.counts.lost += 1;
      return;
    }
    if (frame.speaks) this.speaking.add(frame.timeUs);
    const type = frame.key ? "key" : "delta";
    this.decoder.decode(new EncodedVideoChunk({ type, timestamp: frame.timeUs, data: frame.content }));
  }

  #decoded(picture) {
    this.counts.decoded += 1;
    this.errors = 0;
    this.clock.arrived(picture.timestamp, this.speaking.delete(picture.timestamp), performance.now());
    this.waiting.push(picture);
    while (this.waiting.length > MOST_WAITING) {
      this.waiting.shift().close();
      this.counts.late += 1;
    }
  }

  #draw() {
    this.animation = requestAnimationFrame(() => this.#draw());
    const time = this.clock.timeAt(performance.now());
    if (time === null) return;
    let due = null;
    while (this.waiting.length > 0 && this.waiting[0].timestamp <= time + EARLY_US) {
      if (due) {
        due.close();
        this.counts.late += 1;
      }
      due = this.waiting.shift();
    }
    if (!due) return;
    this.context.drawImage(due, 0, 0, this.canvas.width, this.canvas.height);
    this.shownUs = due.timestamp;
    this.counts.drawn += 1;
    // A picture stands for a while: sound and picture differ by where in it the sound is.
    this.driftMs = (time - due.timestamp) / 1000;
    due.close();
    this.onDrawn(this.shownUs);
  }

  /** After an interruption or another worker: sequence numbers may start anew. */
  forgetSequence() {
    this.sequence = null;
    this.needsKey = true;
  }

  close() {
    cancelAnimationFrame(this.animation);
    for (const picture of this.waiting) picture.close();
    this.waiting = [];
    if (this.decoder && this.decoder.state !== "closed") this.decoder.close();
  }
}
