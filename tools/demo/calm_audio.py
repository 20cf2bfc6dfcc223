"""Calms the trained audio encoder: its mouths shall tremble less than true ones.

    DIR/calm.pt   averaged weights as in audio.pt, and the step of the audio.pt that they come from

Calibration and the UNet each add to the trembling. Learning with a large weight against it from the
start would make the mouth lazy; a few hundred small steps at the end take the tenth that is too much
away. The head stays as it is, so a state keeps its meaning and the UNet needs no further training.
"""

import sys
from pathlib import Path

import numpy as np
import torch

import speech_data
import train_audio
from audio_encoder import MouthReader
from device import DEVICE
from files import load_state, save_state

STEPS, RATE, WARM_UP_STEPS = 400, 6e-4, 30
TREMBLE = 30.0  # times its weight in train_audio.py
WINDOWS = (4, 8)
SEED = 991
REPORT_EVERY = 100


def states_of(work: Path) -> tuple[dict, bool]:
    """{"average", "step"} of the encoder to use, and whether it has been calmed."""
    trained, calmed = load_state(work / "audio.pt"), load_state(work / "calm.pt")
    if trained is None:
        raise SystemExit(f"{work / 'audio.pt'} is missing: train the audio encoder first")
    is_calm = calmed is not None and calmed["step"] == trained["step"]
    return (calmed if is_calm else trained), is_calm


def reader_of(state: dict) -> MouthReader:
    """Frozen, on the CPU."""
    reader = train_audio.new_reader()
    reader.load_state_dict(state["average"])
    return reader.eval().requires_grad_(False).cpu()


def rate(step: int) -> float:
    return RATE * min(1.0, (step + 1) / WARM_UP_STEPS) * (1 - step / STEPS)


def calm(work: Path) -> None:
    """Writes DIR/calm.pt; nothing to do where it belongs to the audio.pt that is there."""
    state, is_calm = states_of(work)
    if is_calm:
        return
    reader = reader_of(state).to(DEVICE).train()
    reader.encoder.requires_grad_(True)
    reader.encoder.embed_positions.requires_grad_(False)
    free = [weight for weight in reader.parameters() if weight.requires_grad]
    optimiser = torch.optim.AdamW(free, lr=RATE, betas=(0.9, 0.98))
    clips = speech_data.load(work, "train")
    weights = train_audio.loss_weights(clips)
    for step in range(STEPS):
        optimiser.param_groups[0]["lr"] = rate(step)
        mel, track = train_audio.batch(clips, np.random.default_rng([SEED, step]), WINDOWS)
        terms = train_audio.losses(reader(mel), track, weights)
        optimiser.zero_grad(set_to_none=True)
        (terms["mouth"] + TREMBLE * terms["tremble"]).backward()
        torch.nn.utils.clip_grad_norm_(free, 1.0)
        optimiser.step()
        if (step + 1) % REPORT_EVERY == 0:
            said = " ".join(f"{name} {value.item():.4f}" for name, value in terms.items())
            print(f"calm: step {step + 1}/{STEPS} {said}", file=sys.stderr, flush=True)
    save_state(work / "calm.pt", {"average": reader.state_dict(), "step": state["step"]})
