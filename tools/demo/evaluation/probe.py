"""Reads the mouth parameters back from pixels: a ridge regression on renders whose mouths are known."""

from dataclasses import dataclass

import cv2
import numpy as np

from faces.framing import with_part

ROWS, COLUMNS = slice(128, 252), slice(48, 208)  # of the crop: nose to chin
SIZE = (20, 16)  # what is left of them, width x height
RIDGE = 1.0


def _features(crops: np.ndarray) -> np.ndarray:
    """uint8 RGB crops [N, 256, 256, 3] to [N, 960]."""
    small = [
        cv2.resize(
            cv2.cvtColor(np.ascontiguousarray(crop[ROWS, COLUMNS]), cv2.COLOR_RGB2LAB),
            SIZE,
            interpolation=cv2.INTER_AREA,
        ).ravel()
        for crop in crops
    ]
    return np.stack(small).astype(np.float32) / 255


@dataclass(frozen=True)
class Probe:
    """One character's: mouths = (features - centre) @ weights + mean."""

    centre: np.ndarray
    weights: np.ndarray
    mean: np.ndarray

    @staticmethod
    def fit(crops: np.ndarray, mouths: np.ndarray) -> "Probe":
        """From uint8 crops [N, 256, 256, 3] and their mouths [N, 8]."""
        features = _features(crops)
        centre, mean = features.mean(0), mouths.mean(0)
        centred = features - centre
        normal = centred.T @ centred + RIDGE * np.eye(centred.shape[1], dtype=np.float32)
        return Probe(centre, np.linalg.solve(normal, centred.T @ (mouths - mean)), mean)

    @staticmethod
    def of_shards(shards: list[dict[str, np.ndarray]]) -> "Probe":
        """From one character's shards of faces (face_data.py)."""
        crops = [
            with_part(reference, part)
            for shard in shards
            for reference, parts in zip(shard["reference"], shard["parts"])
            for part in parts
        ]
        return Probe.fit(np.stack(crops), np.concatenate([s["mouths"].reshape(-1, 8) for s in shards]))

    def __call__(self, crops: np.ndarray) -> np.ndarray:
        """uint8 crops [N, 256, 256, 3] to mouths [N, 8]."""
        return (_features(crops) - self.centre) @ self.weights + self.mean
