// Latency (docs/client.md): the arrival of the last picture whose time is not
// after that of a sample, minus the sending of the message that held the sample. Sound that is sent
// comes back sample for sample, so that counting finds it again.

const WINDOW = 250; // measurements that are kept

export class LatencyMeter {
  constructor() {
    this.values = [];
    this.forget();
  }

  /** What was sent so far does not come back any more, or not alone: texts are spoken between it. */
  forget() {
    this.sent = []; // {end, at}: messages, by the count of samples with their end
    this.sentCount = 0;
    this.heardCount = 0;
    this.heard = []; // {timeUs, at}: samples that came back and wait for their picture
    this.lastPicture = null;
    this.trusted = true;
  }

  /** Other sound than what is sent will come back. */
  distrust() {
    this.forget();
    this.trusted = false;
  }

  samplesSent(count, now) {
    if (!this.trusted) return;
    this.sentCount += count;
    this.sent.push({ end: this.sentCount, at: now });
  }

  soundArrived(timeUs, count) {
    if (!this.trusted || this.sent.length === 0) return;
    while (this.sent.length > 0 && this.sent[0].end <= this.heardCount) this.sent.shift();
    if (this.sent.length > 0) this.heard.push({ timeUs, at: this.sent[0].at });
    this.heardCount += count;
    if (this.heardCount >= this.sentCount) this.sent = [];
  }

  pictureArrived(timeUs, now) {
    while (this.heard.length > 0 && this.heard[0].timeUs < timeUs) {
      const sample = this.heard.shift();
      if (this.lastPicture !== null) this.values.push(this.lastPicture - sample.at);
    }
    this.lastPicture = now;
    while (this.values.length > WINDOW) this.values.shift();
  }

  /** Milliseconds below which this share of the last measurements lie; null: nothing was measured. */
  quantile(share) {
    if (this.values.length === 0) return null;
    const sorted = [...this.values].sort((a, b) => a - b);
    return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  }
}
