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
        table = positional_table(10 * states.shape[1], states.shape[2])
        known = torch.cat([latents_of(self.vae, resting, blank) for blank in (True, False)], dim=1)
        pieces = []
        for start in range(0, len(resting), BATCH):
            frames = torch.arange(start, min(len(resting), start + BATCH))
            context = (frame_windows(states, frames) + table).to(DEVICE)
            latent = self.unet(known[frames].to(DEVICE), TIMESTEP, context).sample
            pieces.append(to_pixels(decode(self.vae, latent)))
        return np.concatenate(pieces)
