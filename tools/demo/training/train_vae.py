"""Trains the VAE on the rendered crops.

    DIR/vae.pt   weights, averaged weights, optimiser, step

Most steps see eight windows of 128x128, half of them the mouth; the others, and all of the last part,
see whole crops, because the normalisation layers' statistics differ between the two.
"""

from pathlib import Path

import numpy as np
import torch

from faces import face_data
from faces.framing import FACE, MASK_ROW, MOUTH_COLUMNS, MOUTH_ROWS, with_part
from nets.device import DEVICE, half_precision
from nets.sizes import fresh_nets
from nets.vae import decode, encode, to_net
from training.losses import importance, picture_losses
from training.run import SETTLING, Run

RATE = 1e-3
WINDOW, WINDOWS, WHOLES = 128, 8, 2
SHARE_OF_WHOLE_STEPS = 0.25
SHARE_OF_MOUTHS = 0.6
SHARE_BLANKED = 0.15
LATENT_NOISE = 0.05
LATENT_WEIGHT = 0.02  # of the pull to mean 0 and deviation 1
REPORT_EVERY, CHECK_EVERY = 100, 500


def new_vae(warm_start: Path | None) -> torch.nn.Module:
    """A fresh VAE, or one with the weights of a (config, state) file of the same sizes."""
    vae = fresh_nets().vae
    if warm_start is not None:
        vae.load_state_dict(torch.load(warm_start, weights_only=True)[1])
    return vae.to(DEVICE)


def random_crop(faces: dict[str, np.ndarray], groups: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A whole crop [256, 256, 3]: a speaking mouth, or now and then a reference."""
    group = rng.choice(groups)
    mouth = rng.integers(-1, faces["parts"].shape[1])
    reference = faces["reference"][group]
    return reference if mouth < 0 else with_part(reference, faces["parts"][group, mouth])


def random_window(rng: np.random.Generator) -> tuple[slice, slice]:
    """Rows and columns of a 128x128 window: the mouth more often than anything else."""
    if rng.random() < SHARE_OF_MOUTHS:
        row, column = rng.integers(104, FACE - WINDOW + 1), rng.integers(32, 97)
    else:
        row, column = rng.integers(0, FACE - WINDOW + 1, 2)
    return slice(row, row + WINDOW), slice(column, column + WINDOW)


def batch(faces, groups: np.ndarray, rng: np.random.Generator, whole: bool):
    """Pictures [B, 3, H, W], and the weights of their pixels [B, 1, H, W]."""
    weights = importance()
    pictures, counts = [], []
    for _ in range(WHOLES if whole else WINDOWS):
        crop = random_crop(faces, groups, rng)
        if rng.random() < SHARE_BLANKED:
            crop = crop.copy()
            crop[MASK_ROW:] = 0
        rows, columns = (slice(None), slice(None)) if whole else random_window(rng)
        pictures.append(crop[rows, columns])
        counts.append(weights[0, :, rows, columns])
    return to_net(np.stack(pictures)), torch.stack(counts).to(DEVICE)


def losses(vae: torch.nn.Module, picture: torch.Tensor, weight: torch.Tensor):
    """The terms to add up; the latent is pulled to what the UNet likes: mean 0, deviation 1."""
    with half_precision():
        latent = encode(vae, picture)
        noisy = latent + LATENT_NOISE * torch.randn_like(latent)
        made = decode(vae, noisy)
    latent = latent.float()
    spread = (latent.std() - 1) ** 2 + latent.mean() ** 2
    return picture_losses(made.float(), picture, weight) | {"latent": LATENT_WEIGHT * spread}


def psnr(made: torch.Tensor, truth: torch.Tensor) -> float:
    """Decibels between pictures in [-1, 1]."""
    return float(-10 * torch.log10((((made.clamp(-1, 1) - truth) / 2) ** 2).mean()))


@torch.no_grad()
def check(run: Run, faces: dict[str, np.ndarray]) -> None:
    """PSNR of held-back crops with the averaged weights."""
    vae = new_vae(None)
    vae.load_state_dict(run.average.state)
    vae.eval()
    _, held = face_data.split(len(faces["reference"]))
    crops = [with_part(faces["reference"][g], faces["parts"][g, 0]) for g in held]
    truth = to_net(np.stack(crops))
    made = torch.cat([decode(vae, encode(vae, picture[None])) for picture in truth])
    mouth = (slice(None), slice(None), MOUTH_ROWS, MOUTH_COLUMNS)
    run.say(
        f"held back: PSNR {psnr(made, truth):.2f} dB, lower half "
        f"{psnr(made[:, :, MASK_ROW:], truth[:, :, MASK_ROW:]):.2f}, mouth "
        f"{psnr(made[mouth], truth[mouth]):.2f}"
    )


def train(work: Path, steps: int, warm_start: Path | None = None) -> None:
    """Goes on to `steps`."""
    run = Run(work / "vae.pt", new_vae(warm_start), RATE)
    if run.step >= steps:
        return
    faces = face_data.load(work)
    groups, _ = face_data.split(len(faces["reference"]))
    while run.step < steps:
        rng = run.generator()
        torch.manual_seed(run.step)
        settling = run.step > steps * (1 - SETTLING / 2)
        picture, weight = batch(faces, groups, rng, settling or rng.random() < SHARE_OF_WHOLE_STEPS)
        run.advance(losses(run.module, picture, weight), steps)
        if run.step % REPORT_EVERY == 0:
            run.report(steps)
            run.save()
        if run.step % CHECK_EVERY == 0:
            check(run, faces)
    run.save()
    check(run, faces)
