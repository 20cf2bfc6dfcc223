"""Windows of speech for the audio encoder: clips one after the other, as a microphone might hear them."""

from dataclasses import dataclass

import numpy as np
import torch

from speech import augment
from speech.mel import TOKEN_SAMPLES, log_mel

LONGEST_GAP_TOKENS = 25
# How often each step of augmentation happens, times its own probability: from the clean synthesiser
# to a bad recording. Small nets learn little from bad recordings only.
STRENGTHS = (0.0, 0.3, 0.3, 0.6, 1.0)
SHARE_WARPED = 0.6
WARP = (0.86, 1.17)  # of the spectrum: a longer or shorter throat
SHARE_OF_SINGLE_CLIPS = 0.2  # in windows that are silent otherwise
SHARE_OF_SILENCE = 0.08  # windows in which nobody speaks: noise and tones, or nothing at all


@dataclass(frozen=True)
class Window:
    """mel [80, 2 T] and the mouth at each of the T tokens, track [T, 8]."""

    mel: torch.Tensor
    track: torch.Tensor


def compose(
    clips: list[tuple[np.ndarray, np.ndarray]], tokens: int, rng: np.random.Generator
) -> Window:
    """`tokens` (20 ms each) of augmented speech; the gaps between clips rest."""
    samples = np.zeros(tokens * TOKEN_SAMPLES, np.float32)
    track = np.zeros((tokens, 8), np.float32)
    strength = float(rng.choice(STRENGTHS))
    if rng.random() >= SHARE_OF_SILENCE:
        place(samples, track, clips, rng, strength)
    elif strength > 0:
        samples += augment.no_speech(len(samples), rng)
    samples = augment.apply(samples, augment.OF_A_RECORDING, rng, strength)
    warp = rng.uniform(*WARP) if rng.random() < SHARE_WARPED * strength else 1.0
    return Window(log_mel(torch.from_numpy(samples), float(warp)), torch.from_numpy(track))


def place(samples, track, clips, rng: np.random.Generator, strength: float) -> None:
    """Fills the window with clips; one that does not fit is cut at the window's end."""
    single = rng.random() < SHARE_OF_SINGLE_CLIPS
    at = int(rng.integers(0, 2 * LONGEST_GAP_TOKENS))
    while at < len(track) - LONGEST_GAP_TOKENS:
        voice, mouth = clips[rng.integers(len(clips))]
        take = min(len(mouth), len(track) - at)
        spoken = augment.apply(voice[: take * TOKEN_SAMPLES], augment.OF_A_VOICE, rng, strength)
        samples[at * TOKEN_SAMPLES : (at + take) * TOKEN_SAMPLES] = spoken
        track[at : at + take] = mouth[:take]
        if single:
            return
        at += take + int(rng.integers(0, LONGEST_GAP_TOKENS))
