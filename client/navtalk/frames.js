// The binary frames of a live session (docs/protocol.md): a header of 16 bytes, then sound or one
// H.264 access unit.

export const KIND_PCM = 1;
export const KIND_VIDEO = 3;
export const FLAG_KEY = 1;
export const FLAG_SPEAKS = 2;
export const FLAG_DISCONTINUITY = 4;
const HEADER_BYTES = 16;

/** What a binary frame holds; null when it is too short to be one. `timeUs` is on the session's clock. */
export function parseFrame(buffer) {
  if (buffer.byteLength < HEADER_BYTES) return null;
  const view = new DataView(buffer);
  const flags = view.getUint8(1);
  return {
    kind: view.getUint8(0),
    key: (flags & FLAG_KEY) !== 0,
    speaks: (flags & FLAG_SPEAKS) !== 0,
    discontinuity: (flags & FLAG_DISCONTINUITY) !== 0,
    sequence: view.getUint32(4, true),
    timeUs: Number(view.getBigInt64(8, true)),
    content: new Uint8Array(buffer, HEADER_BYTES),
  };
}

/** Little-endian 16-bit samples as numbers from -1 to 1. */
export function samplesOf(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const samples = new Float32Array(bytes.byteLength >> 1);
  for (let i = 0; i < samples.length; i++) samples[i] = view.getInt16(2 * i, true) / 32768;
  return samples;
}

/** Numbers from -1 to 1 as little-endian 16-bit samples. */
export function bytesOf(samples) {
  const view = new DataView(new ArrayBuffer(samples.length * 2));
  for (let i = 0; i < samples.length; i++) {
    const clipped = Math.max(-1, Math.min(1, samples[i]));
    view.setInt16(2 * i, Math.round(clipped * 32767), true);
  }
  return view.buffer;
}
