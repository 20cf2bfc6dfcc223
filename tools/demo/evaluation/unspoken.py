"""Sounds without speech to evaluate with, made in other ways than those that the encoder is trained with.

float32 [N] at 16 kHz, two seconds each. A mouth shall rest at all of them.
"""

import numpy as np
import torch
from scipy.signal import lfilter

from nets.audio_encoder import encode_speech, frame_windows
from speech.mel import RATE_HZ
from speech.visemes import PARAMETERS

SECONDS = 2
SLOPES = {"white": 0.0, "pink": 1.0, "brown": 2.0}
LEVELS_DB = (-20, -30, -40, -55)
HUMS_HZ, TONES_HZ = (50, 60, 100, 120), (220, 440, 1000, 3000)
FRAMES = range(4, 46, 6)  # that are drawn of each
JAW = PARAMETERS.index("jaw")
MELODY_HZ = (220.0, 261.6, 329.6, 440.0, 392.0, 329.6, 261.6, 293.7)


def at_level(sound: np.ndarray, level_db: float) -> np.ndarray:
    return (10 ** (level_db / 20) * sound / sound.std()).astype(np.float32)


def noise(slope: float, seed: int = 0) -> np.ndarray:
    """White noise through a filter with poles and zeros by turns, 1/f^slope: no spectrum is drawn."""
    sound = np.random.default_rng(seed).standard_normal(SECONDS * RATE_HZ)
    for edge_hz in 40.0 * 4.0 ** np.arange(5):  # a pole, and slope / 2 of the way up to the next one a zero
        pole, zero = (np.exp(-2 * np.pi * min(hz, 7900) / RATE_HZ) for hz in (edge_hz, edge_hz * 4 ** (slope / 2)))
        sound = lfilter([1.0, -zero], [1.0, -pole], sound)
    return sound


def sine(pitch_hz: float) -> np.ndarray:
    return np.sin(2 * np.pi * pitch_hz * np.arange(SECONDS * RATE_HZ) / RATE_HZ)


def plucked(pitch_hz: float, count: int, seed: int) -> np.ndarray:
    """A string by Karplus and Strong: a burst of noise in a loop that averages neighbours."""
    loop = round(RATE_HZ / pitch_hz)
    burst = np.zeros(count)
    burst[:loop] = np.random.default_rng(seed).uniform(-1, 1, loop)
    denominator = np.zeros(loop + 2)
    denominator[0], denominator[loop:] = 1.0, -0.498
    return lfilter([1.0], denominator, burst)


def melody() -> np.ndarray:
    """Plucked strings, a bass of triangles and a tick on each note."""
    count, step = SECONDS * RATE_HZ, SECONDS * RATE_HZ // len(MELODY_HZ)
    sound = np.zeros(count)
    for number, pitch_hz in enumerate(MELODY_HZ):
        start = number * step
        sound[start:] += plucked(pitch_hz, count - start, number)
        sound[start : start + 80] += 0.5 * np.random.default_rng(number).uniform(-1, 1, 80)
    bass = 2 * np.abs(2 * (110.0 * np.arange(count) / RATE_HZ % 1) - 1) - 1
    return sound + 0.3 * bass


def sounds() -> dict[str, np.ndarray]:
    """By name, with the level in decibels of full scale."""
    made = {f"{name} noise {db}": at_level(noise(slope), db) for name, slope in SLOPES.items() for db in LEVELS_DB}
    for hz in HUMS_HZ:
        made[f"hum {hz} Hz -30"] = at_level(sum(sine(hz * k) / k for k in (1, 2, 3, 5, 7)), -30)
    made |= {f"tone {hz} Hz {db}": at_level(sine(hz), db) for hz in TONES_HZ for db in (-20, -30)}
    made["chord -20"] = at_level(sum(np.sign(sine(hz)) for hz in MELODY_HZ[:3]), -20)
    return made | {"melody -20": at_level(melody(), -20)}


def jaws(generator, probe, resting: np.ndarray) -> dict[str, float]:
    """The mean jaw at each sound, read from the faces that it makes of the crop `resting` [1, 256, 256, 3]."""
    found = {}
    for name, sound in sounds().items():
        states = encode_speech(generator.encoder, torch.from_numpy(sound))
        crops = generator.drawn(frame_windows(states, torch.tensor(FRAMES)), resting)
        found[name] = float(probe(crops)[:, JAW].mean())
    return found
