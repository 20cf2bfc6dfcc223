// What a session sends to be spoken, in its order: texts, sound, files, a microphone. A file goes out as fast as the connection
// takes it, and what is said and sent meanwhile follows it.
import { decodeFile, piecesOf } from "./files.js";
import { bytesOf } from "./frames.js";
import { Microphone } from "./microphone.js";
import { textPieces } from "./texts.js";

const MOST_BUFFERED = 65536; // bytes of a file that wait in the socket, and that interrupt() then waits for
const BUFFERED_PAUSE_MS = 10;

export class Input {
  #rate;
  #link;
  #microphone = null;
  #chosen = 0; // the file that was chosen last
  #behindFile = null; // what is to be sent when the file that is being sent is

  /** `link`, to the session: {socket(), the one of a session that is ready, else null; sound(bytes) and control(frame), which send,
      false without such a session; ended(), whether it is over; distrust() and trust(), told before what latency cannot be
      measured of, and what it can}. */
  constructor(rate, link) {
    this.#rate = rate;
    this.#link = link;
  }

  say(text, voice) {
    const pieces = textPieces(text);
    this.#link.distrust();
    const frames = pieces.map((piece) => ({ type: "input.text", text: piece, ...(voice && { voice }) }));
    return this.#inTurn(() => frames.every((frame) => this.#link.control(frame)));
  }

  send(samples) {
    const bytes = bytesOf(samples);
    return this.#inTurn(() => this.#link.sound(bytes));
  }

  end() {
    return this.#inTurn(() => this.#link.control({ type: "input.end" }));
  }

  async sendFile(file) {
    const number = ++this.#chosen;
    try {
      const samples = await decodeFile(file, this.#rate);
      const socket = this.#link.socket();
      const goesOn = () => number === this.#chosen && socket && socket === this.#link.socket();
      if (number === this.#chosen) this.#behindFile ??= [];
      for (const piece of piecesOf(samples, this.#rate)) {
        while (goesOn() && socket.bufferedAmount > MOST_BUFFERED) await new Promise((done) => setTimeout(done, BUFFERED_PAUSE_MS));
        if (!goesOn() || !this.#link.sound(bytesOf(piece))) return 0;
      }
      this.#link.distrust(); // it was sent faster than it is played
      this.#link.control({ type: "input.end" });
      return samples.length / this.#rate;
    } finally {
      if (number === this.#chosen) this.forgetFile().forEach((send) => send());
    }
  }

  /** Ends the sending of a file; returns what was to follow it. */
  forgetFile() {
    const behind = this.#behindFile ?? [];
    this.#behindFile = null;
    this.#chosen += 1;
    return behind;
  }

  async openMicrophone(context, deviceId, { onLevel, onEnded }) {
    const rate = this.#rate;
    const opened = await Microphone.open(context, { deviceId, rate, onPiece: (piece) => this.send(piece), onLevel, onEnded });
    this.closeMicrophone();
    if (this.#link.ended()) opened.close();
    else this.#microphone = opened;
    return { deviceId: opened.deviceId, label: opened.label };
  }

  talk(sending) {
    if (!this.#microphone || this.#microphone.sending === sending) return;
    this.#microphone.sending = sending;
    if (!sending) this.end();
    else this.#link.trust();
  }

  closeMicrophone() {
    this.talk(false);
    this.#microphone?.close();
    this.#microphone = null;
  }

  // Behind the file that is being sent, if there is one.
  #inTurn(send) {
    if (!this.#behindFile || !this.#link.socket()) return send();
    this.#behindFile.push(send);
    return true;
  }
}
