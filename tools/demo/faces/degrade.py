"""What an avatar's clip does to the crop before navtalk sees it: a codec, and a resize."""

import cv2
import numpy as np

JPEG_QUALITY = (70, 96)  # about what H.264 at CRF 16 to 23 leaves of a still picture
LEAST_SIDE, LARGEST_SIDE = 280, 420  # of the face's box in the clip


def degraded(crop: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A crop [256, 256, 3] that went through a clip: enlarged, compressed, cut out as navtalk does."""
    side = int(rng.integers(LEAST_SIDE, LARGEST_SIDE))
    large = cv2.resize(crop, (side, side), interpolation=cv2.INTER_CUBIC)
    quality = int(rng.integers(*JPEG_QUALITY))
    _, packed = cv2.imencode(".jpg", large, [cv2.IMWRITE_JPEG_QUALITY, quality])
    played = cv2.imdecode(packed, cv2.IMREAD_COLOR)
    return cv2.resize(played, crop.shape[1::-1], interpolation=cv2.INTER_LANCZOS4)
