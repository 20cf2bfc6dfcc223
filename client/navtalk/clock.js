// When something of the session is to be seen and heard here. Times on the session's clock are
// microseconds; local times are milliseconds of performance.now().
//
//   local time = session time + offset
//
// The offset follows the slowest of what arrived in the last seconds, pictures with their decoding
// included, so that sound waits for its pictures. It grows at once when things come later, within
// bounds, and shrinks slowly when they come earlier again.

const WINDOW_MS = 4000;
const MARGIN_MS = 8;
const MOST_DELAY_MS = 600; // behind the fastest arrival
const SHRINK_MS_PER_S = 60; // heard as a faster voice
const SHRINK_SILENT_MS_PER_S = 500;
const SHARE = 0.95; // of arrivals that are in time

export class SessionClock {
  constructor() {
    this.reset();
  }

  reset() {
    this.arrivals = []; // {at, transit}
    this.offset = null;
    this.changedAt = 0;
    this.sound = null; // what the player last said: {timeUs, at}
  }

  /** Something with this session time is ready to be shown, `now`. */
  arrived(timeUs, now) {
    const transit = now - timeUs / 1000;
    this.arrivals.push({ at: now, transit });
    while (this.arrivals[0].at < now - WINDOW_MS) this.arrivals.shift();
    const sorted = this.arrivals.map((one) => one.transit).sort((a, b) => a - b);
    const slow = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * SHARE))];
    const target = Math.min(slow, sorted[0] + MOST_DELAY_MS) + MARGIN_MS;
    if (this.offset === null || target > this.offset) {
      this.offset = target;
    } else {
      const most = ((now - this.changedAt) / 1000) * (this.sound ? SHRINK_MS_PER_S : SHRINK_SILENT_MS_PER_S);
      this.offset = Math.max(target, this.offset - most);
    }
    this.changedAt = now;
  }

  /** Milliseconds that things wait here, behind the fastest that arrived lately. */
  get delayMs() {
    if (this.offset === null) return 0;
    return this.offset - Math.min(...this.arrivals.map((one) => one.transit));
  }

  /** The sound of this session time is heard at that local time. null: no sound is heard. */
  soundHeard(position) {
    this.sound = position;
  }

  /** The session time in microseconds that is seen at `now`: that of the sound while one is heard. */
  timeAt(now) {
    if (this.sound) return this.sound.timeUs + (now - this.sound.at) * 1000;
    return this.offset === null ? null : (now - this.offset) * 1000;
  }
}
