// When something of the session is to be seen and heard here. Times on the session's clock are
// microseconds; local times are milliseconds of performance.now().
//
//   local time = session time + offset
//
// The offset follows the slowest pictures that arrived lately, their decoding included, so that sound
// waits for its pictures. Pictures of speech take the server longer than others; those of earlier
// utterances tell how long the next one's will take. The offset grows at once when pictures come later,
// within bounds, and shrinks when they come earlier again: slowly while a voice is heard, which plays a
// little faster for it.

const WINDOW_MS = 4000;
const SPEECH_WINDOW_MS = 120000;
const SPEECH_PICTURES = 100;
const FIRST_DELAY_MS = 100; // behind the fastest picture, before anything was spoken
const MARGIN_MS = 8;
const MOST_DELAY_MS = 600;
const SHRINK_MS_PER_S = 60;
const SHRINK_SILENT_MS_PER_S = 500;
const SHARE = 0.95; // of pictures that are in time

function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

export class SessionClock {
  constructor() {
    this.reset();
  }

  reset() {
    this.recent = []; // {at, transit}
    this.spoken = [];
    this.offset = null;
    this.changedAt = 0;
    this.sound = null; // what the player last said: {timeUs, at}
  }

  /** A picture of this session time is ready to be shown, `now`. `speaks`: the avatar does in it. */
  arrived(timeUs, speaks, now) {
    const one = { at: now, transit: now - timeUs / 1000 };
    this.recent.push(one);
    while (this.recent[0].at < now - WINDOW_MS) this.recent.shift();
    if (speaks) this.spoken.push(one);
    while (this.spoken.length > SPEECH_PICTURES || this.spoken[0]?.at < now - SPEECH_WINDOW_MS) this.spoken.shift();
    this.#move(this.#target(), now);
  }

  #target() {
    const transits = (list) => list.map((one) => one.transit);
    const fastest = this.fastest;
    const slow = Math.max(
      quantile(transits(this.recent), SHARE),
      this.spoken.length > 0 ? quantile(transits(this.spoken), SHARE) : fastest + FIRST_DELAY_MS,
    );
    return Math.min(slow, fastest + MOST_DELAY_MS) + MARGIN_MS;
  }

  #move(target, now) {
    if (this.offset === null || target > this.offset) {
      this.offset = target;
    } else {
      const most = ((now - this.changedAt) / 1000) * (this.sound ? SHRINK_MS_PER_S : SHRINK_SILENT_MS_PER_S);
      this.offset = Math.max(target, this.offset - most);
    }
    this.changedAt = now;
  }

  get fastest() {
    return Math.min(...this.recent.map((one) => one.transit), ...this.spoken.map((one) => one.transit));
  }

  /** Milliseconds that things wait here, behind the fastest that arrived lately. */
  get delayMs() {
    return this.offset === null ? 0 : this.offset - this.fastest;
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
