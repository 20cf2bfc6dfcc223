"""Writes the weights that navtalk compiles in, and what its test compares with."""

from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file

from evaluate import Judge
from features import RATE_HZ, features
from speech import espeak, non_speech


def recorded_sound() -> np.ndarray:
    """[N] float32 of 16-bit steps: a word, a hum, the word in noise, music; three seconds."""
    rng = np.random.default_rng(21)
    said = espeak.speak("ten boats", "en-us", 190)
    word = said.samples[:: said.rate_hz // RATE_HZ] if said.rate_hz % RATE_HZ == 0 else np.interp(
        np.arange(int(len(said.samples) * RATE_HZ / said.rate_hz)) * said.rate_hz / RATE_HZ, np.arange(len(said.samples)), said.samples
    )
    second = RATE_HZ
    sound = np.zeros(3 * second, np.float32)
    word = word[: second - 4000].astype(np.float32)
    sound[2000 : 2000 + len(word)] = 0.5 * word
    sound[second : second + 8000] = 0.05 * non_speech.hum(8000, rng)
    sound[second + 8000 : second + 8000 + len(word)] += 0.1 * word
    sound[second + 6000 : 2 * second + 6000] += 0.004 * rng.standard_normal(second).astype(np.float32)
    sound[2 * second + 6000 :] += 0.1 * non_speech.music(second - 6000, rng)
    return np.round(sound.clip(-1, 1) * 32767).astype(np.float32) / 32768


def export(state: dict[str, torch.Tensor], weights: Path, fixture: Path) -> None:
    weights.parent.mkdir(parents=True, exist_ok=True)
    save_file({name: value.half().contiguous() for name, value in state.items()}, weights)
    sound = recorded_sound()
    likelihood = torch.from_numpy(Judge(state).likelihood(sound))
    kept = {
        "samples": torch.from_numpy((sound * 32768).astype(np.int16)),
        "features": torch.from_numpy(features(sound)[::10].copy()),
        "likelihood": likelihood.contiguous(),
    }
    save_file(kept, fixture)
    for path in (weights, fixture):
        path.chmod(0o644)
