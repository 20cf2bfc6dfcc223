"""Calms the trained audio encoder: its mouths shall tremble less than true ones.

    DIR/calm.pt      averaged weights as in audio.pt, and the step of the audio.pt that they come from
    DIR/calming.pt   while it lasts, what is needed to go on

Calibration and the UNet each add to the trembling. Learning with a large weight against it from the
start would make the mouth lazy; a few hundred small steps at the end take the tenth that is too much
away. The head stays as it is, so a state keeps its meaning and the UNet needs no further training.
"""

from pathlib import Path

import numpy as np
import torch

from files import load_state, required_state, save_state
from nets.audio_encoder import MouthReader
from nets.device import DEVICE
from speech import speech_data
from training import train_audio
from training.run import Run

STEPS, RATE, WARM_UP_STEPS = 400, 6e-4, 30
TREMBLE = 30.0  # times its weight in train_audio.py
WINDOWS = (4, 8)
SEED = 991
REPORT_EVERY = 100


def states_of(work: Path) -> tuple[dict, bool]:
    """{"average", "step"} of the encoder to use, and whether it has been calmed."""
    trained = required_state(work / "audio.pt", "audio")
    calmed = load_state(work / "calm.pt")
    is_calm = calmed is not None and calmed["step"] == trained["step"]
    return (calmed if is_calm else trained), is_calm


def reader_of(state: dict) -> MouthReader:
    """Frozen, on the CPU."""
    reader = train_audio.new_reader()
    reader.load_state_dict(state["average"])
    return reader.eval().requires_grad_(False).cpu()


def rate(step: int, steps: int, full: float) -> float:
    """Warm-up, then a line down to 0."""
    return full * min(1.0, (step + 1) / WARM_UP_STEPS) * (1 - step / steps)


def calm(work: Path) -> None:
    """Writes DIR/calm.pt; nothing to do where it belongs to the audio.pt that is there."""
    state, is_calm = states_of(work)
    if is_calm:
        return
    reader = reader_of(state).to(DEVICE).train()
    reader.encoder.requires_grad_(True)
    reader.encoder.embed_positions.requires_grad_(False)
    run = Run(work / "calming.pt", reader, RATE, made_of={"audio": state["step"]}, schedule=rate)
    clips = speech_data.load(work, "train")
    weights = train_audio.loss_weights(clips)
    while run.step < STEPS:
        rng = np.random.default_rng([SEED, run.step])
        mel, track = train_audio.batch(clips, rng, WINDOWS)
        terms = train_audio.losses(reader(mel), track, weights)
        run.advance(terms | {"tremble": TREMBLE * terms["tremble"]}, STEPS)
        if run.step % REPORT_EVERY == 0:
            run.report(STEPS)
            run.save()
    save_state(work / "calm.pt", {"average": reader.state_dict(), "step": state["step"]})
    run.path.unlink(missing_ok=True)
