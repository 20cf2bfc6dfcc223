"""The crop that the nets see, in training exactly as at inference.

navtalk cuts the avatar's face box out of the frame, resizes it to 256x256 (Lanczos), and blanks rows
128..255 of one copy before the VAE encodes both (avatars/bundle/latents/latents.cpp, gpu/nets/vae). The box comes
from the resting chin and stays where it is while the head moves. Training renders that same window;
a mouth changes only a part of it, so that targets are rendered there alone:

    0  32            224  256
    +---+-------------+---+  0
    |   |             |   |
    |   +-------------+   |  64
    |   |    part     |   |
    +---|  mm         |---+  128   below: blank in the masked copy
    |   |             |   |
    +---+-------------+---+  256
"""

import numpy as np

FACE = 256
MASK_ROW = 128
PART_ROW, PART_COLUMN, PART = 64, 32, 192
# Where lips, teeth and tongue are in a resting or speaking face, with some of the skin around.
MOUTH_ROWS, MOUTH_COLUMNS = slice(144, 240), slice(64, 192)
JITTER = 0.02  # of the box's side, in place and in size


def part_view(view: np.ndarray) -> np.ndarray:
    """Views [N, 3] (x, y upwards, half side) of crops -> views of their parts."""
    x, y, half = view[:, 0], view[:, 1], view[:, 2]
    centre_x = (PART_COLUMN + PART / 2) / FACE
    centre_y = (PART_ROW + PART / 2) / FACE
    return np.stack(
        [x + half * (2 * centre_x - 1), y - half * (2 * centre_y - 1), half * PART / FACE], axis=1
    )


def with_part(crop: np.ndarray, part: np.ndarray) -> np.ndarray:
    """A copy of a crop [256, 256, 3] with its part [192, 192, 3] replaced."""
    whole = crop.copy()
    whole[PART_ROW : PART_ROW + PART, PART_COLUMN : PART_COLUMN + PART] = part
    return whole


def masked(crops: np.ndarray) -> np.ndarray:
    """Copies of crops [N, 256, 256, 3] with the lower half black."""
    copies = crops.copy()
    copies[:, MASK_ROW:] = 0
    return copies


def jittered(view: tuple[float, float, float], count: int, rng: np.random.Generator) -> np.ndarray:
    """Views [count, 3]: half of them the box itself, half up to 2 % beside it."""
    views = np.tile(np.array(view, np.float32), (count, 1))
    moved = rng.random(count) < 0.5
    shift = rng.uniform(-JITTER, JITTER, (count, 3)) * moved[:, None]
    views[:, :2] += shift[:, :2] * 2 * views[:, 2:]
    views[:, 2] *= 1 + shift[:, 2]
    return views
