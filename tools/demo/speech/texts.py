"""What the voices say: sentences, lists of words, and words that do not exist."""

from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parent / "texts"

# Syllables with a rare mouth (rounded, spread, tucked, pressed) are as frequent here as any others.
ONSETS = "p b m f v w r sh ch j th s z t d k g l n h y br pr fr wr shr tw qu".split()
NUCLEI = "a e i o u oo ee oh ow aw oy ew ar er ur or ai ie".split()
CODAS = ["", "", "", "b", "m", "p", "f", "v", "sh", "th", "l", "n", "t", "s", "k", "r"]
SHARE_OF_SENTENCES, SHARE_OF_WORDS = 0.35, 0.4  # the rest are made-up words


def sentences(name: str) -> list[str]:
    """The lines of texts/NAME.txt: "train" or "held_out"."""
    return (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines()


def words() -> list[str]:
    return (FOLDER / "words.txt").read_text(encoding="utf-8").split()


def made_up_word(rng: np.random.Generator) -> str:
    syllables = rng.integers(1, 4)
    return "".join(
        str(rng.choice(ONSETS)) + str(rng.choice(NUCLEI)) + str(rng.choice(CODAS))
        for _ in range(syllables)
    )


def training_text(rng: np.random.Generator) -> str:
    """One utterance of about 2 to 5 seconds; never one of the held-out sentences."""
    kind = rng.random()
    if kind < SHARE_OF_SENTENCES:
        return str(rng.choice(sentences("train")))
    if kind < SHARE_OF_SENTENCES + SHARE_OF_WORDS:
        chosen = [str(word) for word in rng.choice(words(), rng.integers(3, 10))]
    else:
        chosen = [made_up_word(rng) for _ in range(rng.integers(3, 8))]
    for k in range(1, len(chosen)):
        if rng.random() < 0.12:
            chosen[k - 1] += ","
    return " ".join(chosen) + str(rng.choice([".", ".", "?", "!"]))
