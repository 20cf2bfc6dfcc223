"""Trains the audio encoder on synthetic speech and its mouth tracks: no pictures needed.

    DIR/audio.pt   encoder and head, averaged weights, optimiser, step
"""

from pathlib import Path

import numpy as np
import torch

from nets import encoder_start
from nets.audio_encoder import MouthReader, encode_speech
from nets.device import DEVICE
from nets.sizes import fresh_nets
from speech import speech_data
from speech.speech_windows import compose
from speech.visemes import PARAMETERS
from training.run import Run

RATE = 2e-3
BATCH_TOKENS = 1500  # a step's: in one window of 30 s, or in several shorter ones
WINDOWS = (1, 2, 4, 4, 8)  # in a step: many short ones, since attention grows with their square
CHECK_CLIPS = 48
TOKENS_A_FRAME = 2
TREMBLE_WEIGHT = 0.3
REPORT_EVERY, CHECK_EVERY = 250, 1000
# Mean squared error weighs each parameter by 1 / variance x this.
IMPORTANCE = torch.tensor([1.5, 1.2, 1.2, 1.2, 0.7, 0.7, 0.7, 1.0])


def new_reader() -> MouthReader:
    reader = MouthReader(fresh_nets().whisper)
    encoder_start.begin(reader.encoder)
    reader.encoder.embed_positions.requires_grad_(False)
    return reader.to(DEVICE)


def batch(clips, rng: np.random.Generator, windows=WINDOWS) -> tuple[torch.Tensor, torch.Tensor]:
    """mel [B, 80, 2 T] and track [B, T, 8] with B T = 1500."""
    count = int(rng.choice(windows))
    made = [compose(clips, BATCH_TOKENS // count, rng) for _ in range(count)]
    mel, track = (torch.stack([getattr(w, name) for w in made]) for name in ("mel", "track"))
    return mel.to(DEVICE), track.to(DEVICE)


def loss_weights(clips) -> torch.Tensor:
    """[8], of mean 1: a parameter's importance over how much it varies."""
    weights = IMPORTANCE / torch.from_numpy(np.concatenate([track for _, track in clips]).var(0))
    return (weights / weights.mean()).to(DEVICE)


def losses(mouths: torch.Tensor, track: torch.Tensor, weights: torch.Tensor):
    """Squared errors of mouths [B, T, 8] and of how they bend in time, weighed by `weights` [8].

    Without the second term mouths tremble: each token errs on its own.
    """

    def bend(series: torch.Tensor) -> torch.Tensor:
        """Second differences from video frame to video frame."""
        step = TOKENS_A_FRAME
        return series[:, 2 * step :] - 2 * series[:, step:-step] + series[:, : -2 * step]

    return {
        "mouth": (weights * (mouths - track) ** 2).mean(),
        "tremble": TREMBLE_WEIGHT * (weights * (bend(mouths) - bend(track)) ** 2).mean(),
    }


def correlations(predicted: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    """Pearson's r of each mouth parameter; both are [N, 8]."""
    return {
        name: float(np.corrcoef(predicted[:, k], truth[:, k])[0, 1])
        for k, name in enumerate(PARAMETERS)
    }


@torch.no_grad()
def read_mouths(reader: MouthReader, samples: np.ndarray) -> np.ndarray:
    """Speech [N] to mouths [N / 320, 8], encoded as at inference."""
    return reader.head(encode_speech(reader.encoder, torch.from_numpy(samples))[:, -1]).numpy()


def check(run: Run, clips) -> None:
    """Correlations on held-out sentences and voices, with the averaged weights."""
    reader = new_reader()
    reader.load_state_dict(run.average.state)
    reader.eval().cpu()
    predicted = np.concatenate([read_mouths(reader, samples) for samples, _ in clips])
    truth = np.concatenate([track for _, track in clips])
    found = correlations(predicted, truth)
    spread = predicted.std(0) / truth.std(0)
    run.say("held out: " + " ".join(f"{name} {value:.3f}" for name, value in found.items()))
    run.say("spread: " + " ".join(f"{n} {v:.2f}" for n, v in zip(PARAMETERS, spread)))


def train(work: Path, steps: int) -> None:
    """Goes on to `steps`."""
    reader = new_reader()
    run = Run(work / "audio.pt", reader, RATE)
    if run.step >= steps:
        return
    clips = speech_data.load(work, "train")
    held_out = [speech_data.clip_of_set("check", k) for k in range(CHECK_CLIPS)]
    held_out = [(clip.samples, clip.track) for clip in held_out]
    weights = loss_weights(clips)
    while run.step < steps:
        mel, track = batch(clips, run.generator())
        run.advance(losses(reader(mel), track, weights), steps)
        if run.step % REPORT_EVERY == 0:
            run.report(steps)
            run.save()
        if run.step % CHECK_EVERY == 0:
            check(run, held_out)
    run.save()
    check(run, held_out)
