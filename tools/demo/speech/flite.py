"""Speech by flite, whose voices are nearer to recordings than espeak-ng's; it tells no phonemes."""

import io
import subprocess

import numpy as np
import soundfile
import soxr

from program import Failure
from speech.mel import RATE_HZ

VOICES = ("slt", "rms", "awb", "kal16")
PITCH_HZ = {"slt": (140, 240), "rms": (70, 150), "awb": (80, 170), "kal16": (75, 160)}


def speak(text: str, rng: np.random.Generator, voices: tuple[str, ...] = VOICES) -> np.ndarray:
    """[N] float32 at 16 kHz in one of `voices`, of random pitch, pace and size of throat. Failure without flite."""
    voice = str(rng.choice(voices))
    size = float(np.exp(rng.normal(0, 0.07)))
    pitch_hz, spread_hz = rng.uniform(*PITCH_HZ[voice]), rng.uniform(8, 35)
    settings = {
        "int_f0_target_mean": pitch_hz / size,
        "int_f0_target_stddev": spread_hz,
        "duration_stretch": rng.uniform(0.8, 1.25) * size,
    }
    options = [word for name, value in settings.items() for word in ("--setf", f"{name}={value:.3f}")]
    try:
        done = subprocess.run(
            ["flite", "-voice", voice, *options, "-t", text, "-o", "/dev/stdout"], capture_output=True, check=True
        )
    except (FileNotFoundError, subprocess.CalledProcessError) as error:
        raise Failure("flite does not speak: install the Debian package flite") from error
    samples, rate_hz = soundfile.read(io.BytesIO(done.stdout), dtype="float32")
    return soxr.resample(samples, rate_hz * size, RATE_HZ).astype(np.float32)
