"""Mouth tracks: the eight mouth parameters over time, from phonemes."""

from collections.abc import Sequence

import numpy as np

from speech.espeak import Phoneme
from speech.visemes import DOMINANCE, PARAMETERS, SHAPES, shapes_of

FRAME_S = 0.04  # 25 video frames a second
TOKEN_S = 0.02  # 50 whisper tokens a second
LEAD_S = 0.03  # the mouth moves before it is heard
CORE = 0.55  # the part of half a phoneme in which its weight is full
SIGMA_S = 0.022
SIGMA_GROWTH = 0.25  # of half the phoneme's length, up to:
LONGEST_HALF_S = 0.12
SHORTEST_S = 0.004  # shorter phonemes are espeak's bookkeeping
TAIL_S = 0.5  # rest before and after the speech


def frame_times(count: int) -> np.ndarray:
    """Middles [count] of video frames, in seconds."""
    return (np.arange(count) + 0.5) * FRAME_S


def token_times(count: int) -> np.ndarray:
    """Middles [count] of whisper tokens, in seconds; frame i's middle is token 2i + 1's."""
    return np.arange(count) * TOKEN_S


def mouth_track(phonemes: Sequence[Phoneme], times_s: np.ndarray) -> np.ndarray:
    """Mouth parameters [T, 8] float32 at `times_s` [T].

    A mean of the phonemes' shapes, weighted for each parameter by dominance x a bump in time: full
    within the core of the phoneme, then a Gaussian whose width grows with the phoneme.
    """
    weights = np.full((len(times_s), len(PARAMETERS)), 1e-9)
    values = np.zeros_like(weights)
    for shape, start_s, end_s in _segments(phonemes):
        centre_s, half_s = (start_s + end_s) / 2 - LEAD_S, (end_s - start_s) / 2
        outside_s = np.maximum(np.abs(times_s - centre_s) - half_s * CORE, 0)
        sigma_s = SIGMA_S + SIGMA_GROWTH * min(half_s, LONGEST_HALF_S)
        weight = np.exp(-0.5 * (outside_s / sigma_s) ** 2)[:, None] * DOMINANCE[shape]
        weights += weight
        values += weight * SHAPES[shape]
    return (values / weights).astype(np.float32)


def _segments(phonemes: Sequence[Phoneme]) -> list[tuple[str, float, float]]:
    """(shape, start, end) in order, with rest before and after."""
    spoken = [p for p in phonemes if p.end_s - p.start_s >= SHORTEST_S]
    if not spoken:
        return []
    first_s, last_s = spoken[0].start_s, spoken[-1].end_s
    segments = [("rest", first_s - TAIL_S, first_s)]
    for phoneme in spoken:
        shapes = shapes_of(phoneme.name)
        step_s = (phoneme.end_s - phoneme.start_s) / len(shapes)
        for k, shape in enumerate(shapes):
            start_s = phoneme.start_s + k * step_s
            segments.append((shape, start_s, start_s + step_s))
    segments.append(("rest", last_s, last_s + TAIL_S))
    return segments
