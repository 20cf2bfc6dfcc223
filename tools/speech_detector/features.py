"""What the speech detector hears, as core/voice_activity/sound_features.h computes it."""

import numpy as np
import torch
from scipy.signal import lfilter

RATE_HZ = 16000
HOP, WINDOW = 160, 512
BANDS = 40
LOWEST_HZ, HIGHEST_HZ = 60.0, 7600.0
FLOOR = 1e-8  # of a band's mean power: -80 dB of full scale
REFERENCE_PACE = 0.01  # of a frame, towards its level
COUNT = BANDS + 2


def _mel(hz: np.ndarray | float) -> np.ndarray:
    return 2595.0 * np.log10(1.0 + np.asarray(hz) / 700.0)


def filters() -> np.ndarray:
    """[BANDS, 257] float64: triangles between 42 points that are equally spaced in mel, each of sum 1."""
    points = np.linspace(_mel(LOWEST_HZ), _mel(HIGHEST_HZ), BANDS + 2)
    edges = 700.0 * (10.0 ** (points / 2595.0) - 1.0)
    bins = np.arange(WINDOW // 2 + 1) * RATE_HZ / WINDOW
    rise = (bins - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    fall = (edges[2:, None] - bins) / (edges[2:] - edges[1:-1])[:, None]
    triangles = np.maximum(0.0, np.minimum(rise, fall))
    # The lowest are narrower than the distance of two bins: each then has the bin that is nearest to its middle.
    empty = triangles.sum(axis=1) < 1e-3
    triangles[empty, np.round(edges[1:-1][empty] * WINDOW / RATE_HZ).astype(int)] = 1.0
    return triangles / triangles.sum(axis=1, keepdims=True)


_FILTERS = torch.from_numpy(filters()).float()
_HANN = torch.hann_window(WINDOW)


def features(samples: np.ndarray) -> np.ndarray:
    """[N] float32 at 16 kHz to [N // HOP, COUNT] float32. Frame f hears the WINDOW samples up to (f + 1) HOP.

    First the bands' logarithms to their mean, then that mean to its slow average, then the mean itself.
    """
    frames = len(samples) // HOP
    padded = np.pad(samples[: frames * HOP], (WINDOW - HOP, 0)).astype(np.float32)
    windows = torch.from_numpy(padded).unfold(0, WINDOW, HOP)
    power = torch.fft.rfft(windows * _HANN).abs().square() / _HANN.square().sum()
    logarithm = (power @ _FILTERS.T + FLOOR).log().numpy()
    level = logarithm.mean(axis=1)
    quiet = np.log(FLOOR)
    reference = quiet + lfilter([REFERENCE_PACE], [1.0, REFERENCE_PACE - 1.0], level - quiet)
    rest = np.stack([(level - reference) / 4, (level - quiet) / 8], axis=1)
    return np.concatenate([(logarithm - level[:, None]) / 3, rest], axis=1).astype(np.float32)
