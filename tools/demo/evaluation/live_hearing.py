"""What a live session hears of a recording, as avatars/live/live_hearing.cpp has it, and how far its faces are
from those of the whole recording."""

import numpy as np
import torch

from evaluation import figures
from nets.audio_encoder import TOKENS_BEFORE, WINDOW_TOKENS, encode_speech, frame_windows, hidden_states
from speech.mel import TOKEN_SAMPLES, log_mel
from speech.visemes import PARAMETERS

PAST_TOKENS = 200
KNOWN_TOKENS = 6  # from a picture's first: its own two, and 80 ms
SILENT_TOKENS = STEP_TOKENS = 50  # behind at least, and what their number is a multiple of
REGION = (slice(None), slice(128, 256), slice(64, 192))  # the middle half of the lower half
JAW = PARAMETERS.index("jaw")


@torch.no_grad()
def live_windows(encoder: torch.nn.Module, samples: np.ndarray, frames) -> torch.Tensor:
    """Contexts [len(frames), 10 S, D] before the positional table: each frame hears for itself."""
    return torch.stack([_window(encoder, samples, 2 * int(frame)) for frame in frames])


def _window(encoder: torch.nn.Module, samples: np.ndarray, token: int) -> torch.Tensor:
    begin = max(0, token - PAST_TOKENS)
    heard = samples[begin * TOKEN_SAMPLES : (token + KNOWN_TOKENS) * TOKEN_SAMPLES]
    known = token + KNOWN_TOKENS - begin
    tokens = -(-(known + SILENT_TOKENS) // STEP_TOKENS) * STEP_TOKENS
    padded = np.pad(heard, (0, tokens * TOKEN_SAMPLES - len(heard)))
    states = hidden_states(encoder, log_mel(torch.from_numpy(padded))[None])[0, :known]
    before = max(0, begin + TOKENS_BEFORE - token)  # zeros, as before a recording
    first = token - TOKENS_BEFORE - begin + before
    window = states[first : first + WINDOW_TOKENS - before]
    return torch.nn.functional.pad(window, (0, 0, 0, 0, before, 0)).flatten(0, 1)


def agreement(live: np.ndarray, whole: np.ndarray, probe) -> dict[str, float]:
    """Of neighbouring crops [T, 256, 256, 3] of both: PSNR of the mouth, and how alike the jaws move."""
    decibels = [figures.psnr(a[REGION[1:]], b[REGION[1:]]) for a, b in zip(live, whole)]
    jaws = [probe(crops)[:, JAW] for crops in (live, whole)]
    return {
        "live_psnr": float(np.mean(decibels)),
        "live_psnr_least": float(np.min(decibels)),
        "live_jaw": figures.correlation(*jaws),
        "live_flicker": figures.second_difference(jaws[0]) / max(figures.second_difference(jaws[1]), 1e-9),
    }


def figures_of(generator, probe, samples: np.ndarray, resting: np.ndarray) -> dict[str, float]:
    """Agreement over a recording [N], with the crop `resting` [1, 256, 256, 3]; all of it is heard whole first."""
    frames = np.arange(len(samples) // (2 * TOKEN_SAMPLES) - (KNOWN_TOKENS - 2) // 2)
    states = encode_speech(generator.encoder, torch.from_numpy(samples))
    whole = generator.drawn(frame_windows(states, torch.from_numpy(frames)), resting)
    live = generator.drawn(live_windows(generator.encoder, samples, frames), resting)
    return agreement(live, whole, probe)
