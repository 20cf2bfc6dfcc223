"""Losses between pictures [B, 3, H, W] in [-1, 1]."""

import torch
import torch.nn.functional as F

from faces.framing import FACE, MASK_ROW, MOUTH_COLUMNS, MOUTH_ROWS

SCALES = 3
# How much a pixel counts: only the lower half is ever shown, and one looks at the mouth.
UPPER, LOWER, MOUTH = 0.25, 1.0, 3.0


def importance() -> torch.Tensor:
    """[1, 1, 256, 256], of mean 1."""
    weight = torch.full((1, 1, FACE, FACE), UPPER)
    weight[:, :, MASK_ROW - 16 :] = LOWER
    weight[:, :, MOUTH_ROWS, MOUTH_COLUMNS] = MOUTH
    return weight / weight.mean()


def gradients(picture: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Differences to the right and lower neighbour, the last column and row repeated as zero."""
    right = F.pad(picture[..., 1:] - picture[..., :-1], (0, 1))
    lower = F.pad(picture[..., 1:, :] - picture[..., :-1, :], (0, 0, 0, 1))
    return right, lower


def gradient_loss(made: torch.Tensor, truth: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """Mean absolute difference of gradients at three scales: an edge in its place, at its height."""
    loss = made.new_zeros(())
    for scale in range(SCALES):
        if scale:
            made, truth, weight = (F.avg_pool2d(x, 2) for x in (made, truth, weight))
        for a, b in zip(gradients(made), gradients(truth)):
            loss = loss + (weight * (a - b).abs()).mean() / SCALES
    return loss


def picture_losses(
    made: torch.Tensor, truth: torch.Tensor, weight: torch.Tensor
) -> dict[str, torch.Tensor]:
    """Level, edges and (squared, for what is far off) outliers; `weight` [*, 1, H, W]."""
    difference = made - truth
    return {
        "level": (weight * difference.abs()).mean(),
        "edges": 1.5 * gradient_loss(made, truth, weight),
        "outliers": 0.5 * (weight * difference**2).mean(),
    }
