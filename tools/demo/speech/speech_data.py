"""The spoken half of the data: clips of synthetic speech with their mouth tracks, in shards.

What clip k of a set says, and how, depends on k alone, so a shard can be made in any order, by any
process, again; espeak-ng's own noise then differs, and moves a phoneme by a millisecond at most. A
shard that exists is kept; delete the folder to change the recipe.

    DIR/speech/plain-0000.npz   the same of flite's voices, whose mouths are not known: the track is NaN
    DIR/speech/train-0000.npz   samples [sum N] int16 at 16 kHz, track [sum T, 8] float16 at token
                                times (50 a second), sample_ends [clips], token_ends [clips]
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soxr

from files import save_arrays
from program import Failure
from speech import flite, texts, voices
from speech.espeak import Phoneme, speak
from speech.mel import RATE_HZ, TOKEN_SAMPLES
from speech.tracks import mouth_track, token_times

CLIPS_A_SHARD = 100
SETS = {"train": 1, "check": 2, "plain": 3}  # the number seeds the set
PAUSE_S = (0.08, 0.5)  # before and after the speech


@dataclass(frozen=True)
class SpokenClip:
    """samples [N] float32 at 16 kHz, N a multiple of 320; track [N / 320, 8] float32."""

    samples: np.ndarray
    track: np.ndarray
    phonemes: tuple[Phoneme, ...]

    @property
    def tokens(self) -> int:
        return len(self.track)


def spoken_clip(text: str, manner: voices.Manner, rng: np.random.Generator) -> SpokenClip:
    """One utterance with a pause before and after, cut to whole video frames."""
    speech = speak(
        text, manner.voice, manner.rate_wpm, manner.pitch, manner.pitch_range, manner.word_gap
    )
    played_hz = speech.rate_hz * manner.size
    voice = soxr.resample(speech.samples, played_hz, RATE_HZ)
    before_s, after_s = rng.uniform(*PAUSE_S, size=2)
    start = int(before_s * RATE_HZ)
    count = start + len(voice) + int(after_s * RATE_HZ)
    count -= count % (2 * TOKEN_SAMPLES)
    samples = np.zeros(count, np.float32)
    end = min(count, start + len(voice))
    samples[start:end] = voice[: end - start]
    phonemes = tuple(
        Phoneme(p.name, start / RATE_HZ + p.start_s / manner.size, start / RATE_HZ + p.end_s / manner.size)
        for p in speech.phonemes
    )
    track = mouth_track(phonemes, token_times(count // TOKEN_SAMPLES))
    return SpokenClip(samples, track, phonemes)


def plain_clip(rng: np.random.Generator) -> SpokenClip:
    """An utterance by flite with a pause before and after; its track is NaN."""
    voice = flite.speak(texts.training_text(rng), rng)
    samples = np.pad(voice, [int(pause_s * RATE_HZ) for pause_s in rng.uniform(*PAUSE_S, size=2)])
    samples = samples[: len(samples) - len(samples) % (2 * TOKEN_SAMPLES)]
    return SpokenClip(samples, np.full((len(samples) // TOKEN_SAMPLES, 8), np.nan, np.float32), ())


def clip_of_set(name: str, index: int) -> SpokenClip:
    """Clip `index` of a set: "check" speaks the held-out sentences with the held-out voices, "plain" by flite."""
    rng = np.random.default_rng([SETS[name], index])
    if name == "plain":
        return plain_clip(rng)
    if name == "check":
        lines = texts.sentences("held_out")
        return spoken_clip(lines[index % len(lines)], voices.held_out_manner(index), rng)
    for _ in range(20):  # some voices lack some accents
        try:
            return spoken_clip(texts.training_text(rng), voices.training_manner(rng), rng)
        except ValueError:
            continue
    raise Failure("espeak-ng refuses every voice: is the package espeak-ng-data installed?")


def shard_path(work: Path, name: str, shard: int) -> Path:
    return work / "speech" / f"{name}-{shard:04d}.npz"


def make_shard(work: Path, name: str, shard: int, clips: int = CLIPS_A_SHARD) -> bool:
    """Makes one shard; False where it was there already."""
    path = shard_path(work, name, shard)
    if path.exists():
        return False
    made = [clip_of_set(name, shard * clips + k) for k in range(clips)]
    save_arrays(
        path,
        samples=np.concatenate([np.round(c.samples * 32767).astype(np.int16) for c in made]),
        track=np.concatenate([c.track.astype(np.float16) for c in made]),
        sample_ends=np.cumsum([len(c.samples) for c in made]),
        token_ends=np.cumsum([c.tokens for c in made]),
    )
    return True


def make(work: Path, shards: int) -> None:
    """All training shards, with a line of progress each."""
    for shard in range(shards):
        if make_shard(work, "train", shard):
            print(f"speech: shard {shard + 1} of {shards}", file=sys.stderr, flush=True)


def load(work: Path, name: str) -> list[tuple[np.ndarray, np.ndarray]]:
    """(samples [N] float32, track [T, 8] float32) of every clip of the set's shards, in order.

    Failure where there are none.
    """
    clips = []
    for path in sorted((work / "speech").glob(f"{name}-*.npz")):
        with np.load(path) as shard:
            samples = shard["samples"].astype(np.float32) / 32768
            track = shard["track"].astype(np.float32)
            clips += zip(
                np.split(samples, shard["sample_ends"][:-1]),
                np.split(track, shard["token_ends"][:-1]),
            )
    if not clips:
        raise Failure(f"{work / 'speech'} holds no speech: run the stage speech first")
    return clips
