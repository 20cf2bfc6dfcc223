"""Gives predicted mouths the liveliness of true ones.

A regression is shy: where the sound leaves a doubt it answers with the mean, so lips half close and
jaws half open. A monotone map for each parameter, from the distribution of predictions to that of the
truth, undoes it without changing the order, hence hardly the correlation.
"""

from dataclasses import dataclass

import numpy as np

QUANTILES = 201


@dataclass(frozen=True)
class Calibration:
    """predicted, true [201, 8]: quantiles of the same speech."""

    predicted: np.ndarray
    true: np.ndarray

    @staticmethod
    def fit(predicted: np.ndarray, truth: np.ndarray, boldness: float) -> "Calibration":
        """From mouths [N, 8]; `boldness` 1 takes the truth's distribution, 0 keeps the predictions."""
        levels = np.linspace(0, 1, QUANTILES)
        before = np.quantile(predicted, levels, axis=0)
        before += np.arange(QUANTILES)[:, None] * 1e-7  # strictly rising, as interpolation wants
        after = np.quantile(truth, levels, axis=0)
        return Calibration(before, boldness * after + (1 - boldness) * before.clip(0, 1))

    def __call__(self, predicted: np.ndarray) -> np.ndarray:
        """[N, 8] to [N, 8], within 0..1."""
        columns = [
            np.interp(predicted[:, k], self.predicted[:, k], self.true[:, k])
            for k in range(predicted.shape[1])
        ]
        return np.stack(columns, axis=1).clip(0, 1).astype(np.float32)
