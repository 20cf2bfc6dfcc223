"""A store of audio contexts, each with the mouth that it stands for.

The faces that the UNet learns are rendered with the mouth that the trained encoder reads from the
sound, not with the one that the phonemes ask for. Sound then settles the picture entirely: where the
encoder is in doubt the UNet learns a definite mouth instead of the average, hence blurred, picture of
several. What the encoder gets wrong stays wrong, but sharp.

    DIR/contexts.npz   contexts [N, 50, 64] float16 (before the positional table), mouths [N, 8],
                       calibration [2, 201, 8], made_of: the encoder's step
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from faces.calibration import Calibration
from files import is_made_of, required_state, save_arrays
from nets.audio_encoder import MIDDLE_TOKEN, TOKENS_BEFORE, frame_windows, hidden_states
from provenance import check_contexts
from speech import speech_data
from speech.mel import SEGMENT_TOKENS
from speech.speech_windows import compose
from training.train_audio import MouthReader, new_reader

WINDOWS = 64
FRAMES_OF_A_WINDOW = 300  # of the 750 that 30 s hold
SEED = 5
BOLDNESS = 0.5  # more would stretch the encoder's trembling beyond that of true mouths


@dataclass(frozen=True)
class Contexts:
    values: np.ndarray  # [N, 50, 64] float16
    mouths: np.ndarray  # [N, 8] float32, calibrated
    calibration: Calibration
    made_of: int = 0  # the step to which the encoder was trained


def trained_reader(work: Path) -> tuple[MouthReader, int]:
    """The averaged encoder and head of DIR/audio.pt, for inference, and their step."""
    state = required_state(work / "audio.pt", "audio")
    reader = new_reader()
    reader.load_state_dict(state["average"])
    return reader.eval().requires_grad_(False).cpu(), state["step"]


def contexts_of(reader: MouthReader, states: torch.Tensor, frames: torch.Tensor):
    """States [T, S, D], frames [B] -> contexts [B, 10 S, D], and the mouths [B, 8] read from them."""
    windows = frame_windows(states, frames)
    last = states.shape[1] - 1
    middle = windows[:, MIDDLE_TOKEN * states.shape[1] + last]
    return windows, reader.head(middle)


@torch.no_grad()
def make(work: Path, windows: int = WINDOWS) -> None:
    """Encodes freshly composed speech; nothing to do where this encoder's file exists."""
    path = work / "contexts.npz"
    reader, step = trained_reader(work)
    if is_made_of(path, step):
        return
    clips = speech_data.load(work, "train")
    values, read, true = [], [], []
    for k in range(windows):
        rng = np.random.default_rng([SEED, k])
        window = compose(clips, SEGMENT_TOKENS, rng)
        states = hidden_states(reader.encoder, window.mel[None])[0]
        frames = rng.choice(SEGMENT_TOKENS // 2, FRAMES_OF_A_WINDOW, replace=False)
        context, mouths = contexts_of(reader, states, torch.from_numpy(frames))
        values.append(context.half().numpy())
        read.append(mouths.numpy())
        true.append(window.track[2 * frames + MIDDLE_TOKEN - TOKENS_BEFORE].numpy())
    read = np.concatenate(read)
    calibration = Calibration.fit(read, np.concatenate(true), BOLDNESS)
    save_arrays(
        path,
        made_of=np.array(step),
        contexts=np.concatenate(values),
        mouths=calibration(read),
        calibration=np.stack([calibration.predicted, calibration.true]),
    )


def load(work: Path) -> Contexts:
    """Failure unless they belong to the encoder that is there."""
    check_contexts(work)
    with np.load(work / "contexts.npz") as file:
        calibration = Calibration(*file["calibration"])
        return Contexts(file["contexts"], file["mouths"], calibration, int(file["made_of"]))


def rare_first(mouths: np.ndarray) -> np.ndarray:
    """Probabilities [N] that even out how often each kind of mouth is drawn.

    Mouths [N, 8] are sorted into cells, four steps a parameter; a cell of n mouths is drawn as often
    as sqrt(n) asks for.
    """
    cells = np.floor(mouths.clip(0, 0.999) * 4).astype(np.int64) @ (4 ** np.arange(mouths.shape[1]))
    _, cell, count = np.unique(cells, return_inverse=True, return_counts=True)
    weight = 1 / np.sqrt(count[cell])
    return weight / weight.sum()
