"""What evaluation measures on generated crops; pure functions of arrays.

Crops are uint8 [N, 256, 256, 3]; mouths [N, 8]; a clip's frames are in order.
"""

import numpy as np

from faces.framing import MASK_ROW, MOUTH_COLUMNS, MOUTH_ROWS

REST = 0.02  # a mouth all of whose parameters are below this rests
SETTLED_FRAMES = 2  # after which it has closed


def correlation(read: np.ndarray, track: np.ndarray) -> float:
    """Pearson's r of two series [N]; 0 where one of them is constant."""
    if read.std() == 0 or track.std() == 0:
        return 0.0
    return float(np.corrcoef(read, track)[0, 1])


def silent_frames(track: np.ndarray) -> np.ndarray:
    """Which frames [N] rest, and have for two frames before and after, in mouths [N, 8]."""
    rests = (track < REST).all(axis=1)
    settled = rests.copy()
    for shift in range(1, SETTLED_FRAMES + 1):
        settled[shift:] &= rests[:-shift]
        settled[:-shift] &= rests[shift:]
    return settled


def second_difference(series: np.ndarray) -> float:
    """Mean absolute second difference of [N]: flicker."""
    return float(np.abs(np.diff(series, n=2)).mean())


def gradient_energy(crops: np.ndarray) -> float:
    """Mean squared brightness step between neighbours in the mouth's region."""
    grey = crops[:, MOUTH_ROWS, MOUTH_COLUMNS].astype(np.float64).mean(axis=3)
    return float((np.diff(grey, axis=1) ** 2).mean() + (np.diff(grey, axis=2) ** 2).mean())


def psnr(made: np.ndarray, truth: np.ndarray) -> float:
    """Decibels between uint8 arrays; infinite where they are the same."""
    error = ((made.astype(np.float64) - truth) ** 2).mean()
    return float(10 * np.log10(255**2 / error)) if error else float("inf")


def mouth_of(crops: np.ndarray) -> np.ndarray:
    return crops[:, MOUTH_ROWS, MOUTH_COLUMNS]


def lower_half(crops: np.ndarray) -> np.ndarray:
    return crops[:, MASK_ROW:]


def seam(made: np.ndarray, clip: np.ndarray) -> float:
    """Mean absolute level difference to the avatar's own crop where the paste fades out.

    A band around the ellipse with semi-axes 0.45 of the box, its lower half (avatars/faces/mask.h).
    """
    y, x = np.mgrid[0:256, 0:256]
    radius = np.hypot((x + 0.5 - 128) / (0.45 * 256), (y + 0.5 - 128) / (0.45 * 256))
    band = (np.abs(radius - 1) < 0.06) & (y >= MASK_ROW)
    return float(np.abs(made[:, band].astype(np.float64) - clip[:, band]).mean())
