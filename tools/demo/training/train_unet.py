"""Trains the UNet: a resting face and an audio context to the speaking face.

    DIR/unet.pt   weights, averaged weights, optimiser, step, made_of: the steps of the encoder and
                  the VAE that it was trained with

The reference is what inference gives: the same pose with the mouth at rest. So most of the picture is
a copy, and all that is left to learn is the mouth, which the context determines (contexts.py). The
self-attention joins in for the last part only (self_attention.py).
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

import provenance
from faces import face_data
from files import load_state
from nets import head_start, self_attention
from nets.audio_encoder import positional_table
from nets.device import DEVICE, half_precision
from nets.sizes import fresh_nets
from nets.vae import decode
from training import contexts as context_store
from training import latents as latent_store
from training.losses import picture_losses
from training.run import Run

RATE = 2e-3
PICTURE_WEIGHT = 4.0
BATCH, DECODED = 16, 4
NEIGHBOURS, NEIGHBOURHOOD = 8, 0.04  # other contexts that may stand for a rendered mouth
PICTURE_EVERY = 2  # steps with the picture loss; every step once the self-attention is in use
WITHOUT_SELF_ATTENTION = 0.88  # of the steps
REPORT_EVERY, CHECK_EVERY = 100, 500
TIMESTEP = torch.tensor([0], device=DEVICE)
# The part of a latent [32, 32] that is decoded for the picture loss, its border left out of the loss.
DECODED_ROWS, DECODED_COLUMNS, BORDER = slice(15, 32), slice(5, 27), 8
LATENT_UPPER, LATENT_LOWER, LATENT_MOUTH = 0.2, 1.0, 3.0


def latent_weight() -> torch.Tensor:
    """[1, 1, 32, 32], of mean 1: the mouth most, the upper half, which is never shown, least."""
    weight = torch.full((1, 1, 32, 32), LATENT_UPPER)
    weight[:, :, 14:] = LATENT_LOWER
    weight[:, :, 18:31, 8:24] = LATENT_MOUTH
    return (weight / weight.mean()).to(DEVICE)


def neighbours(store: context_store.Contexts, chosen: np.ndarray) -> np.ndarray:
    """Contexts [M, 8] whose mouths are the same within 0.04 as those of `chosen` [M]; itself first.

    They teach the UNet which part of a context means the mouth.
    """
    found = np.repeat(chosen[:, None], NEIGHBOURS, axis=1)
    for row, index in enumerate(chosen):
        distance = np.abs(store.mouths - store.mouths[index]).max(axis=1)
        near = np.flatnonzero(distance < NEIGHBOURHOOD)[:NEIGHBOURS]
        found[row, : len(near)] = near
    found[:, 0] = chosen
    return found


@dataclass
class Samples:
    """All that a step draws from; see face_data.py and latents.py for the shapes."""

    latents: dict[str, np.ndarray]
    contexts: np.ndarray
    alike: np.ndarray  # [G, K, 8]
    table: torch.Tensor

    @staticmethod
    def load(work: Path) -> "Samples":
        provenance.check_data(work)
        store = context_store.load(work)
        chosen = face_data.load_one(work, "context")
        alike = neighbours(store, chosen.ravel()).reshape(*chosen.shape, NEIGHBOURS)
        rows, width = store.values.shape[1:]
        return Samples(latent_store.load(work), store.values, alike, positional_table(rows, width))

    def batch(self, groups: np.ndarray, rng: np.random.Generator):
        """(input [B, 8, 32, 32], context [B, 50, 64], target [B, 4, 32, 32]) of the groups."""
        mouths = rng.integers(self.alike.shape[1], size=len(groups))
        played = rng.integers(2, size=len(groups))
        known = [self.latents[name][groups, played] for name in ("masked", "reference")]
        which = self.alike[groups, mouths, rng.integers(NEIGHBOURS, size=len(groups))]
        context = torch.from_numpy(self.contexts[which]).float() + self.table
        target = torch.from_numpy(self.latents["target"][groups, mouths]).float()
        known = torch.from_numpy(np.concatenate(known, axis=1)).float()
        return known.to(DEVICE), context.to(DEVICE), target.to(DEVICE)


def new_unet() -> torch.nn.Module:
    """A UNet with random weights and silent self-attention."""
    unet = fresh_nets().unet
    self_attention.silence(unet)
    return unet.to(DEVICE)


def started_unet(work: Path, samples: Samples, known: dict | None = None) -> torch.nn.Module:
    """One that copies the reference and looks at the middle token (head_start.py).

    `known`: the weights of a UNet that was trained with other nets. It draws well already, but must
    learn anew what the context says; its self-attention rests meanwhile, as it does in a fresh one.
    """
    unet = new_unet()
    if known is None:
        head_start.copy_reference(unet)
    else:
        unet.load_state_dict(known)
        self_attention.silence(unet)
    contexts = torch.from_numpy(samples.contexts[::5]).float() + samples.table
    reader, _ = context_store.trained_reader(work)
    mouth = reader.head.weight
    spread = (contexts[:, head_start.MIDDLE_ROW] @ mouth.T).std(0)
    head_start.look_at_middle(unet, head_start.middle_key(contexts).to(DEVICE), (mouth / spread[:, None]).to(DEVICE))
    return unet


def predict(unet: torch.nn.Module, known: torch.Tensor, context: torch.Tensor) -> torch.Tensor:
    with half_precision():
        return unet(known, TIMESTEP, context).sample.float()


def decoded(vae: torch.nn.Module, latent: torch.Tensor) -> torch.Tensor:
    """The lower face out of latents [B, 4, 32, 32]: [B, 3, 128, 160], without the border."""
    with half_precision():
        picture = decode(vae, latent[:, :, DECODED_ROWS, DECODED_COLUMNS])
    return picture.float()[:, :, BORDER:, BORDER:-BORDER]


def latent_loss(made: torch.Tensor, target: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    difference = made - target
    return (weight * (difference.abs() + 0.5 * difference**2)).mean()


def picture_terms(vae, made: torch.Tensor, target: torch.Tensor) -> dict[str, torch.Tensor]:
    """Pictures of a few of the batch, against what the VAE makes of the true latents."""
    with torch.no_grad():
        truth = decoded(vae, target[:DECODED])
    picture = decoded(vae, made[:DECODED])
    one = torch.ones(1, 1, *picture.shape[2:], device=DEVICE)
    return {k: PICTURE_WEIGHT * v for k, v in picture_losses(picture, truth, one).items()}


@torch.no_grad()
def check(run: Run, samples: Samples) -> None:
    """Latent error on held-back poses, in the mouth, against that of copying the reference."""
    unet = new_unet()
    unet.load_state_dict(run.average.state)
    unet.eval()
    _, held = face_data.split(len(samples.alike))
    known, context, target = samples.batch(np.repeat(held, 2), np.random.default_rng(1))
    mouth = (slice(None), slice(None), slice(18, 31), slice(8, 24))
    error = (predict(unet, known, context) - target)[mouth].abs().mean()
    copy = (known[:, 4:] - target)[mouth].abs().mean()
    run.say(f"held back: mouth latent error {error:.4f} (a copy of the reference: {copy:.4f})")


def begun(work: Path, samples: Samples) -> Run:
    """The training of DIR/unet.pt, where it is; at step 0 where that was trained with other nets."""
    path, nets = work / "unet.pt", provenance.present_nets(work)
    state = load_state(path, DEVICE)
    if state is not None and provenance.knows(state, nets):
        return Run(path, new_unet(), RATE, made_of=nets)
    known = None if state is None else state["average"]
    return Run(path, started_unet(work, samples, known), RATE, made_of=nets)


def train(work: Path, steps: int) -> None:
    """Goes on to `steps`."""
    samples = Samples.load(work)
    run = begun(work, samples)
    if run.step >= steps:
        return
    vae, _ = latent_store.trained_vae(work)
    weight = latent_weight()
    training, _ = face_data.split(len(samples.alike))
    while run.step < steps:
        attends = run.step >= steps * WITHOUT_SELF_ATTENTION
        (self_attention.use if attends else self_attention.skip)(run.module)
        rng = run.generator()
        groups = rng.choice(training, BATCH)
        known, context, target = samples.batch(groups, rng)
        made = predict(run.module, known, context)
        terms = {"latent": latent_loss(made, target, weight)}
        if attends or run.step % PICTURE_EVERY == 0:
            terms |= picture_terms(vae, made, target)
        run.advance(terms, steps)
        if run.step % REPORT_EVERY == 0:
            run.report(steps)
            run.save()
        if run.step % CHECK_EVERY == 0:
            check(run, samples)
    run.save()
    check(run, samples)
