"""What the stage `live` hears: speech, what is not speech, and both one after the other or at once."""

from dataclasses import dataclass

import numpy as np
import torch

from speech import augment, non_speech, speech_windows
from speech.mel import SEGMENT_TOKENS, TOKEN_SAMPLES, log_mel

SHARE_NO_SPEECH, SHARE_BEFORE_SPEECH, SHARE_UNDER_SPEECH = 0.2, 0.2, 0.3
UNDER_SPEECH_DB, BELOW_SPEECH_DB = -28.0, 12.0  # at most, and at least below the voice
RECORDED = ((augment.room, 0.3), (augment.low_pass, 0.15))  # voices as the teacher hears them too


@dataclass(frozen=True)
class Sound:
    """What is said [N], what is heard of it [N], the phonemes' mouth [T, 8] or NaN, N = 320 T, and a warp of log_mel."""

    said: np.ndarray
    heard: np.ndarray
    track: np.ndarray
    warp: float = 1.0

    def mel_of(self, samples: np.ndarray) -> torch.Tensor:
        return log_mel(torch.from_numpy(samples), self.warp)


def sound_of(clips, tokens: int, rng: np.random.Generator) -> Sound:
    """Somebody speaks or nobody does, with what else is heard before, after or below."""
    said = np.zeros(tokens * TOKEN_SAMPLES, np.float32)
    track = np.zeros((tokens, 8), np.float32)
    if rng.random() < SHARE_NO_SPEECH:
        return Sound(said, non_speech.heard(len(said), rng), track)
    strength = float(rng.choice(speech_windows.STRENGTHS))
    speech_windows.place(said, track, clips, rng, strength)
    said = augment.apply(said, RECORDED, rng, strength)
    warp = float(rng.uniform(*speech_windows.WARP)) if rng.random() < strength * speech_windows.SHARE_WARPED else 1.0
    kind, heard = rng.random(), said
    if kind < SHARE_BEFORE_SPEECH:
        said, heard, track = beside(said, track, rng)
    elif kind < SHARE_BEFORE_SPEECH + SHARE_UNDER_SPEECH:
        heard = said + non_speech.heard(len(said), rng, most_below(said))
        if rng.random() < 0.4:
            heard = augment.apply(heard, augment.OF_A_RECORDING, rng, 0.6)
    return Sound(said, heard.astype(np.float32), track, warp)


def most_below(said: np.ndarray) -> float:
    """Decibels of full scale that a sound below this speech may have."""
    return min(UNDER_SPEECH_DB, 20 * np.log10(max(augment.level(said), 1e-4)) - BELOW_SPEECH_DB)


def beside(said: np.ndarray, track: np.ndarray, rng: np.random.Generator):
    """Speech after or before a moment only, and another sound on its other side: what is said, what is heard, track.

    Below the speech the other sound goes on quietly, or ends.
    """
    turn = int(rng.integers(len(track) // 5, len(track) * 4 // 5))
    other = non_speech.heard(len(said), rng)
    speaks = np.arange(len(track)) >= turn
    if rng.random() < 0.3:
        speaks = ~speaks
    said = said * np.repeat(speaks, TOKEN_SAMPLES)
    quiet = min(1.0, 10 ** (most_below(said) / 20) / max(float(other.std()), 1e-9))
    below = np.repeat(np.where(speaks, quiet if rng.random() < 0.5 else 0.0, 1.0), TOKEN_SAMPLES)
    return said, said + (below * other).astype(np.float32), track * speaks[:, None]


def behind_a_recording(sound: Sound) -> Sound:
    """The sound and the silence that fills a segment of 30 s."""
    tokens = SEGMENT_TOKENS - len(sound.track)
    said, heard = (np.pad(samples, (0, tokens * TOKEN_SAMPLES)) for samples in (sound.said, sound.heard))
    return Sound(said, heard, np.pad(sound.track, ((0, tokens), (0, 0))), sound.warp)
