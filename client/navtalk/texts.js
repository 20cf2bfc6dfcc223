// A text in pieces, each of which one control frame holds (docs/protocol.md). It is cut between sentences; within one that is too
// long between words, within such a word between characters. Chinese and Japanese, which have no spaces, are cut the same way.

const MOST_BYTES = 100000; // of a text; so many pieces may be sent at once
const PIECE_BYTES = 2000; // as JSON: half of a frame, and minutes of speech
const LEVELS = ["sentence", "word", "grapheme"];

const bytesIn = (text) => new TextEncoder().encode(JSON.stringify(text)).length - 2;
const isSpoken = (text) => /[\p{L}\p{N}\p{S}]/u.test(text);

function partsOf(text, level) {
  if (level === LEVELS.length) return [...text]; // a character of many code points
  return Array.from(new Intl.Segmenter(undefined, { granularity: LEVELS[level] }).segment(text), ({ segment }) => segment);
}

function* packed(text, level) {
  let piece = "", bytes = 0;
  for (const part of partsOf(text, level)) {
    const more = bytesIn(part);
    if (bytes + more > PIECE_BYTES && piece) {
      yield piece;
      piece = "";
      bytes = 0;
    }
    if (more > PIECE_BYTES) {
      yield* packed(part, level + 1);
    } else {
      piece += part;
      bytes += more;
    }
  }
  if (piece) yield piece;
}

/** The pieces, in order. Throws a RangeError that is written for users for a text of more than 100,000 bytes of UTF-8. */
export function textPieces(text) {
  if (new TextEncoder().encode(text).length > MOST_BYTES) {
    throw new RangeError("The text is too long: at most 100,000 letters, or 33,000 of Chinese or Japanese, are spoken at once.");
  }
  if (bytesIn(text) <= PIECE_BYTES) return [text];
  const spoken = [...packed(text, 0)].map((piece) => piece.trim()).filter(isSpoken);
  return spoken.length > 0 ? spoken : [""];
}
