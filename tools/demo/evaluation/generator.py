"""Generates faces with the trained nets as navtalk does: for evaluation and pictures."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

import provenance
from nets import self_attention
from nets.audio_encoder import encode_speech, frame_windows, positional_table
from nets.device import DEVICE
from nets.vae import decode, latents_of, to_pixels
from training import calm_audio, live_audio
from training.latents import trained_vae
from training.train_unet import TIMESTEP, new_unet

BATCH = 8


@dataclass(frozen=True)
class Generator:
    """The three nets, frozen, with averaged weights."""

    encoder: torch.nn.Module
    unet: torch.nn.Module
    vae: torch.nn.Module

    @staticmethod
    def load(work: Path) -> "Generator":
        state = provenance.check_unet(work)
        unet = new_unet()
        unet.load_state_dict(state["average"])
        self_attention.use(unet)
        reader = calm_audio.reader_of(live_audio.states_of(work)[0])
        return Generator(reader.encoder, unet.eval(), trained_vae(work)[0])

    @torch.no_grad()
    def faces(self, samples: np.ndarray, resting: np.ndarray) -> np.ndarray:
        """Speech [N] and the avatar's crops [T, 256, 256, 3], T <= N / 640, to crops [T, 256, 256, 3]."""
        states = encode_speech(self.encoder, torch.from_numpy(samples))
        return self.drawn(frame_windows(states, torch.arange(len(resting))), resting)

    @torch.no_grad()
    def drawn(self, windows: torch.Tensor, resting: np.ndarray) -> np.ndarray:
        """Contexts [T, 10 S, D] before the positional table, and the avatar's crops, to crops [T, 256, 256, 3].

        There are T crops of the avatar too, or one for all.
        """
        table = positional_table(*windows.shape[1:])
        known = torch.cat([latents_of(self.vae, resting, blank) for blank in (True, False)], dim=1)
        known = known.expand(len(windows), -1, -1, -1)
        pieces = []
        for start in range(0, len(windows), BATCH):
            frames = slice(start, start + BATCH)
            context = (windows[frames] + table).to(DEVICE)
            latent = self.unet(known[frames].to(DEVICE), TIMESTEP, context).sample
            pieces.append(to_pixels(decode(self.vae, latent)))
        return np.concatenate(pieces)
