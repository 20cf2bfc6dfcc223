"""A voice for tests, as tests/synthetic_voice.h makes it: the lips of live sessions rest at mere tones."""

import cmath
import math
import struct

FORMANTS = ((80, 1.0), (100, 0.6), (140, 0.3))  # width in Hz, strength


def synthetic_voice(samples, rate_hz=16000):
    """PCM16LE, mono, loud from the first syllable on."""
    last, before = [0.0] * len(FORMANTS), [0.0] * len(FORMANTS)
    phase, sound = 0.0, []
    for i in range(samples):
        t = i / rate_hz
        opened = 0.5 - 0.5 * math.cos(25 * t)
        centres_hz = (300 + 450 * opened, 2100 - 900 * opened, 2600)
        phase += (120 + 15 * math.sin(9 * t)) / rate_hz
        pulse, phase = divmod(phase, 1)
        voice = 0.0
        for k, (width_hz, strength) in enumerate(FORMANTS):
            pole = cmath.rect(math.exp(-math.pi * width_hz / rate_hz), 2 * math.pi * centres_hz[k] / rate_hz)
            now = pulse + 2 * pole.real * last[k] - abs(pole) ** 2 * before[k]
            before[k], last[k] = last[k], now
            voice += strength * now
        sound.append(int(1500 * (0.3 + 0.7 * opened) * voice))
    return struct.pack(f"<{samples}h", *sound)
