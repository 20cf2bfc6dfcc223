// Notices a connection that is gone though nothing says so: the network dropped, or the gateway stands still.

const OPENED_WITHIN_MS = 15000; // the first connection
const RESUMED_WITHIN_MS = 5000; // one try, before the next
const STILL_MS = 12000; // without a frame of a session
// A queue is told of every 10 s, a worker may take 30 s to begin, and a gateway whose store hangs tells of it once a question (docs/protocol.md).
const WAITING_STILL_MS = 90000;
const BEGUN_STILL_MS = 120000; // before the first frame: a gateway that has a slot at once may try three workers

export class Silence {
  #timer = 0;
  #since = 0;

  /** A frame came. */
  end() {
    this.#since = performance.now();
  }

  /** From now on, until stop(), calls gone() once a second while `socket` has been silent for too long in that state of its session. */
  watch(socket, state, gone) {
    this.stop();
    this.end();
    this.#timer = setInterval(() => {
      const still = performance.now() - this.#since, open = socket.readyState === WebSocket.OPEN;
      const most = { resuming: RESUMED_WITHIN_MS, waiting: WAITING_STILL_MS, ready: open ? STILL_MS : Infinity, connecting: open ? BEGUN_STILL_MS : OPENED_WITHIN_MS };
      if (still > (most[state()] ?? Infinity)) gone();
    }, 1000);
  }

  stop() {
    clearInterval(this.#timer);
  }
}
