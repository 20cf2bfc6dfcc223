"""Files that survive being killed: whole or absent, never half written."""

import os
from pathlib import Path

import numpy as np
import torch

from program import Failure


def save_arrays(path: Path, **arrays) -> None:
    """An .npz at `path`, atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    with partial.open("wb") as file:
        np.savez(file, **arrays)
    os.replace(partial, path)


def made_of(path: Path) -> int | None:
    """The step of the net with which the .npz at `path` was made; None where there is no file."""
    if not path.exists():
        return None
    with np.load(path) as file:
        return int(file["made_of"])


def is_made_of(path: Path, step: int) -> bool:
    """Whether the .npz at `path` exists and was made with a net trained to `step`."""
    return made_of(path) == step


def save_state(path: Path, state: dict) -> None:
    """A torch checkpoint at `path`, atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    torch.save(state, partial)
    os.replace(partial, path)


def load_state(path: Path, device: torch.device | str = "cpu") -> dict | None:
    """The checkpoint at `path`, or None where there is none."""
    return torch.load(path, map_location=device, weights_only=True) if path.exists() else None


def required_state(path: Path, stage: str) -> dict:
    """The checkpoint that `stage` leaves at `path`; Failure where there is none."""
    state = load_state(path)
    if state is None:
        raise Failure(f"{path} is missing: run the stage {stage} first")
    return state
