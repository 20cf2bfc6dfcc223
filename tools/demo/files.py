"""Files that survive being killed: whole or absent, never half written."""

import ctypes
import os
import shutil
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
    with partial.open("wb") as file:  # torch's own errors do not name the file
        torch.save(state, file)
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


def replace_folder(made: Path, target: Path, may_hold: set[str]) -> None:
    """The whole folder `made` becomes `target` in one step; what was there is removed.

    Failure where `target` holds anything but `may_hold`: then it is another folder than one thinks.
    """
    if not target.exists():
        os.rename(made, target)
        return
    foreign = sorted(path.name for path in target.iterdir() if path.name not in may_hold)
    if foreign:
        raise Failure(f"{target} holds {foreign[0]}, which would be lost: name another folder")
    _exchange(made, target)
    shutil.rmtree(made)


def _exchange(one: Path, other: Path) -> None:
    """Linux's renameat2 with RENAME_EXCHANGE: both names exist at every moment."""
    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.renameat2(here, os.fsencode(one), here, os.fsencode(other), exchange) == 0:
        return
    # A file system that cannot: whole at every moment still, but for one absent.
    aside = other.with_name(other.name + ".old")
    os.rename(other, aside)
    os.rename(one, other)
    os.rename(aside, one)
