"""What synthesisers say: espeak-ng's languages and variants, flite's voices. Two of each kind are kept for evaluation."""

import numpy as np
import soxr

from speech import espeak, flite, texts
from speech import voices as demo_voices

RATE_HZ = 16000
# Read English letters as their own: other rhythm, other sounds.
LANGUAGES = (
    "af ca cs cy da de el eo es es-419 et eu fi fr-be fr-fr ga hr hu id is it la lt lv ms nb nl pl pt pt-br ro sk sl sq sv sw tr"
    " vi cmn-latn-pinyin"
).split()
SHARE_OF_LANGUAGES = 0.5
FLITE_HELD_OUT = "awb"


def spoken(rng: np.random.Generator) -> np.ndarray:
    """[N] float32 at 16 kHz: an utterance for training, by espeak-ng."""
    while True:
        manner = demo_voices.training_manner(rng)
        voice = manner.voice
        if rng.random() < SHARE_OF_LANGUAGES:
            voice = f"{rng.choice(LANGUAGES)}+{voice.split('+')[1]}"
        try:
            said = espeak.speak(
                texts.training_text(rng), voice, manner.rate_wpm, manner.pitch, manner.pitch_range, manner.word_gap
            )
        except ValueError:  # some voices lack some languages
            continue
        return soxr.resample(said.samples, said.rate_hz * manner.size, RATE_HZ)


def spoken_by_flite(rng: np.random.Generator) -> np.ndarray:
    """The same by flite, without the voice that is held out."""
    return flite.speak(texts.training_text(rng), rng, tuple(v for v in flite.VOICES if v != FLITE_HELD_OUT))


def letter(rng: np.random.Generator) -> np.ndarray:
    """A letter or a syllable alone, by espeak-ng, from as fast as in a word to as slow as for somebody who learns it."""
    consonants, vowels = [*"bdfghjklmnprstvz", "ch", "sh"], [*"aeiou", "ai", "au", "ei"]
    while True:
        manner = demo_voices.training_manner(rng)
        kind = rng.random()
        text = rng.choice(vowels) if kind < 0.3 else rng.choice([*"abcdefghijklmnopqrstuvwxyz"])
        if kind > 0.6:
            text = rng.choice(consonants) + rng.choice(vowels)
        voice = manner.voice
        if rng.random() < SHARE_OF_LANGUAGES:
            voice = f"{rng.choice(LANGUAGES)}+{voice.split('+')[1]}"
        try:
            said = espeak.speak(text, voice, int(rng.integers(80, 180)), manner.pitch, manner.pitch_range)
        except ValueError:
            continue
        sound = soxr.resample(said.samples, said.rate_hz * manner.size, RATE_HZ)
        if np.abs(sound).max(initial=0) > 0.01:
            return sound


def held_out() -> list[np.ndarray]:
    """Held-out sentences by held-out voices."""
    said = []
    for index, line in enumerate(texts.sentences("held_out")):
        manner = demo_voices.held_out_manner(index)
        speech = espeak.speak(line, manner.voice, manner.rate_wpm, manner.pitch, manner.pitch_range)
        said.append(soxr.resample(speech.samples, speech.rate_hz, RATE_HZ))
        said.append(flite.speak(line, np.random.default_rng(index), (FLITE_HELD_OUT,)))
    return said
