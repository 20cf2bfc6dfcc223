"""The sizes of the demo's nets: what two CPU cores render in real time (README.md has the timings)."""

import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import model_folder  # noqa: E402

DEMO = model_folder.Sizes(
    unet_channels=(32, 32, 64, 64),
    unet_layers=1,
    unet_heads=2,
    unet_groups=8,
    vae_channels=(16, 16, 32, 64),
    vae_layers=1,
    vae_groups=8,
    width=64,
    whisper_layers=4,
    whisper_heads=2,
    whisper_ffn=256,
)
STATES = DEMO.whisper_layers + 1  # hidden states of whisper that the UNet sees


def fresh_nets(seed: int = 0) -> model_folder.Nets:
    """The three nets with random weights, in training mode."""
    torch.manual_seed(seed)
    configs = (
        model_folder.unet_config(DEMO),
        model_folder.vae_config(DEMO),
        model_folder.whisper_config(DEMO),
    )
    nets = model_folder.construct(*configs)
    for net in (nets.unet, nets.vae, nets.whisper):
        net.train()
    return nets
