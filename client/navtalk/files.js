// A sound file as samples at the session's rate, and its sending.

const MOST_S = 120; // that a session takes ahead (docs/protocol.md)
const MOST_BYTES = 200 * 2 ** 20;
const MESSAGE_S = 0.1;

/** Mono samples of any file that the browser decodes. Rejects with an Error that is written for users. */
export async function decodeFile(file, rate) {
  if (file.size > MOST_BYTES) throw new Error("The file is larger than 200 MB.");
  let decoded;
  try {
    decoded = await new OfflineAudioContext(1, rate, rate).decodeAudioData(await file.arrayBuffer());
  } catch {
    throw new Error(`This browser cannot read ${file.name} as sound. Try a WAV, MP3, OGG or M4A file.`);
  }
  if (decoded.duration > MOST_S) {
    throw new Error(`${file.name} is longer than two minutes. Choose a shorter one, or cut it.`);
  }
  const context = new OfflineAudioContext(1, Math.max(1, Math.round(decoded.duration * rate)), rate);
  const source = new AudioBufferSourceNode(context, { buffer: decoded });
  source.connect(context.destination); // mixes the channels down
  source.start();
  return (await context.startRendering()).getChannelData(0);
}

/** Pieces of samples, of one message each. */
export function* piecesOf(samples, rate) {
  const size = Math.round(rate * MESSAGE_S);
  for (let i = 0; i < samples.length; i += size) yield samples.subarray(i, i + size);
}
