// Counts of a session as rates of the last seconds.

const WINDOW_MS = 2000;

export class RateMeter {
  constructor() {
    this.times = [];
  }

  count(now, amount = 1) {
    this.times.push({ now, amount });
    while (this.times[0].now < now - WINDOW_MS) this.times.shift();
  }

  /** A second. */
  rate(now) {
    const recent = this.times.filter((one) => one.now >= now - WINDOW_MS);
    return recent.reduce((sum, one) => sum + one.amount, 0) / (WINDOW_MS / 1000);
  }
}

/** The mean of the last values. */
export class Mean {
  constructor(most) {
    this.most = most;
    this.values = [];
  }

  add(value) {
    this.values.push(value);
    if (this.values.length > this.most) this.values.shift();
  }

  get value() {
    return this.values.length === 0 ? null : this.values.reduce((sum, one) => sum + one, 0) / this.values.length;
  }
}
