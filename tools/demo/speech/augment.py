"""Makes synthetic speech sound less like a synthesiser in a silent room.

Every function takes 16 kHz samples [N] float32 and a generator; the same generator state gives the
same result. None moves a sound in time, so mouth tracks stay valid.
"""

import numpy as np
from scipy.signal import fftconvolve, lfilter

RATE_HZ = 16000
EARS_DELAY_S = 0.0005  # the direct sound comes first in a room's response


def level(samples: np.ndarray) -> float:
    """Root mean square of what is louder than a tenth of the peak; 0 for silence."""
    peak = float(np.abs(samples).max(initial=0.0))
    loud = samples[np.abs(samples) > 0.1 * peak]
    return float(np.sqrt(np.mean(loud**2))) if peak > 0 else 0.0


def tilt(samples: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A microphone's colour: up to 6 dB of slope towards either end of the spectrum."""
    return lfilter([1.0, rng.uniform(-0.6, 0.6)], [1.0], samples).astype(np.float32)


def resonance(samples: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A broad peak or notch somewhere between 200 and 5000 Hz (a peaking equaliser)."""
    gain = 10 ** (rng.uniform(-9, 9) / 40)
    angle = 2 * np.pi * np.exp(rng.uniform(np.log(200), np.log(5000))) / RATE_HZ
    width = np.sin(angle) / (2 * rng.uniform(0.5, 2.0))
    numerator = [1 + width * gain, -2 * np.cos(angle), 1 - width * gain]
    denominator = [1 + width / gain, -2 * np.cos(angle), 1 - width / gain]
    return lfilter(numerator, denominator, samples).astype(np.float32)


def low_pass(samples: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A telephone's or a codec's missing treble: nothing above 3.4 to 7 kHz."""
    edge = rng.uniform(3400, 7000)
    spectrum = np.fft.rfft(samples)
    frequency = np.fft.rfftfreq(len(samples), 1 / RATE_HZ)
    spectrum *= 1 / (1 + (frequency / edge) ** 16)
    return np.fft.irfft(spectrum, len(samples)).astype(np.float32)


def room(samples: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A room with 0.1 to 0.5 s of reverberation; the direct sound keeps its time and strength."""
    decay_s = rng.uniform(0.1, 0.5)
    count = int(decay_s * RATE_HZ)
    times = np.arange(count) / RATE_HZ
    response = rng.standard_normal(count) * np.exp(-6.9 * times / decay_s)
    response[: int(EARS_DELAY_S * RATE_HZ)] = 0
    response *= rng.uniform(0.1, 0.7) / np.sqrt(np.sum(response**2))
    response[0] = 1
    return fftconvolve(samples, response)[: len(samples)].astype(np.float32)


def coloured_noise(count: int, rng: np.random.Generator) -> np.ndarray:
    """Noise [count] of unit power whose spectrum falls as 1/f^k, k in 0 (white) to 2 (brown)."""
    spectrum = np.fft.rfft(rng.standard_normal(count))
    frequency = np.fft.rfftfreq(count, 1 / RATE_HZ)
    spectrum *= np.maximum(frequency, 40.0) ** (-rng.uniform(0, 2) / 2)
    noise = np.fft.irfft(spectrum, count)
    return (noise / (noise.std() + 1e-12)).astype(np.float32)


def steady_tone(count: int, rng: np.random.Generator) -> np.ndarray:
    """A hum, whistle or beep [count] of unit power: 50 to 4000 Hz, up to six partials that fade."""
    pitch_hz = np.exp(rng.uniform(np.log(50), np.log(4000)))
    partials = np.arange(1, rng.integers(1, 7) + 1)
    partials = partials[partials * pitch_hz < 0.45 * RATE_HZ]
    strength = partials ** -rng.uniform(0.5, 2.0)
    phase = rng.uniform(0, 2 * np.pi, len(partials))
    angle = 2 * np.pi * pitch_hz * np.arange(count)[:, None] / RATE_HZ * partials + phase
    tone = (strength * np.sin(angle)).sum(axis=1)
    return (tone / (tone.std() + 1e-12)).astype(np.float32)


def no_speech(count: int, rng: np.random.Generator) -> np.ndarray:
    """What is heard where nobody speaks [count]: a room, a fan, traffic, a hum, a beep; -80 to -8 dB.

    Half of it is as loud as speech. It may begin and end suddenly: a mouth must not open at that.
    """
    loud = rng.random() < 0.5
    amplitude = 10 ** rng.uniform(-1.3, -0.4) if loud else 10 ** rng.uniform(-4, -1.5)
    kind = rng.random()
    sound = np.zeros(count, np.float32)
    if kind < 0.8:
        sound += coloured_noise(count, rng)
    if kind >= 0.6:
        sound += steady_tone(count, rng)
    if rng.random() < 0.3:
        begin, end = np.sort(rng.integers(0, count, 2))
        sound[:begin] = sound[end:] = 0
    return (amplitude * sound).astype(np.float32)


def noise(samples: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Adds steady noise 8 to 45 dB below the speech."""
    amplitude = max(level(samples), 1e-3) * 10 ** (-rng.uniform(8, 45) / 20)
    return samples + amplitude * coloured_noise(len(samples), rng)


def drive(samples: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Soft clipping, as of a compressor or an overdriven input."""
    peak = float(np.abs(samples).max(initial=0.0)) + 1e-9
    push = rng.uniform(1, 4)
    return (np.tanh(samples / peak * push) / np.tanh(push) * peak).astype(np.float32)


def gain(samples: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """-24 to +4 dB of the synthesiser's level."""
    return (samples * 10 ** (rng.uniform(-24, 4) / 20)).astype(np.float32)


# (what, how often): in the order in which a recording meets them.
OF_A_VOICE = ((tilt, 0.6), (resonance, 0.6), (resonance, 0.3), (drive, 0.25), (gain, 1.0))
OF_A_RECORDING = ((room, 0.45), (noise, 0.7), (low_pass, 0.2))


def apply(
    samples: np.ndarray, chain: tuple, rng: np.random.Generator, strength: float = 1.0
) -> np.ndarray:
    """Runs the chain; `strength` scales how often each step happens (0: never)."""
    for step, probability in chain:
        if rng.random() < probability * strength:
            samples = step(samples, rng)
    return samples
