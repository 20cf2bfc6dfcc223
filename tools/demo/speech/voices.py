"""Which of espeak-ng's voices speak in training, and which are kept for evaluation."""

from dataclasses import dataclass

import numpy as np

ACCENTS = ("en", "en-us", "en-gb-scotland", "en-gb-x-rp", "en-gb-x-gbclan", "en-029", "en-us-nyc")
# Read English letters with foreign sounds: other timbres of vowels and r, other rhythm.
FOREIGN = ("de", "es", "it", "nl", "pl", "fr", "sv", "pt", "cmn")
VARIANTS = (
    "m1 m2 m3 m4 m5 m6 m8 f1 f2 f4 f5 Alicia Andrea Andy Annie Gene Gene2 Henrique Hugo Jacky Lee "
    "Marco Mike Michael adam anika announcer antonio aunty belinda benjamin boris caleb david ed "
    "edward gustave iven iven2 john kaukovalta klatt2 klatt3 klatt4 linda marcelo max michel miguel "
    "norbert pablo paul pedro quincy rob robert sandro shelby steph travis victor zac"
).split()
# Never heard in training.
HELD_OUT = ("en-us+f3", "en+m7", "en-us+steph2", "en-gb-x-rp+Mario", "en-us+grandma", "en-us+Diogo")
SHARE_OF_FOREIGN = 0.12


@dataclass(frozen=True)
class Manner:
    """How an utterance is spoken; `size` > 1 is a smaller throat: higher voice, higher formants."""

    voice: str
    rate_wpm: int
    pitch: int
    pitch_range: int
    word_gap: int
    size: float


def training_manner(rng: np.random.Generator) -> Manner:
    accents = FOREIGN if rng.random() < SHARE_OF_FOREIGN else ACCENTS
    size = float(np.exp(rng.normal(0, 0.09)))
    return Manner(
        voice=f"{rng.choice(accents)}+{rng.choice(VARIANTS)}",
        # The size is changed by playing faster; the words keep their pace.
        rate_wpm=int(np.clip(rng.normal(165, 28) / size, 90, 260)),
        pitch=int(rng.integers(10, 85)),
        pitch_range=int(rng.integers(20, 95)),
        word_gap=int(rng.integers(1, 6)) if rng.random() < 0.15 else 0,
        size=size,
    )


def held_out_manner(index: int) -> Manner:
    return Manner(HELD_OUT[index % len(HELD_OUT)], (150, 165, 180)[index % 3], 50, 50, 0, 1.0)
