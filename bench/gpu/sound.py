"""usage: sound.py FILE SECONDS   writes speech-like sound as WAV, 16 kHz, mono, 16 bits: vowels that come and go four times a second"""

import array
import math
import sys
import wave

RATE = 16000
PITCH_HZ = 120
VOWELS = ((730, 1090), (270, 2290), (300, 870), (530, 1840))  # the first two formants of each, in Hz
SYLLABLE_SECONDS = 0.25


def vowel(formants):
    """One period of the pitch: harmonics, louder the nearer they are to a formant."""
    period = round(RATE / PITCH_HZ)
    samples = [0.0] * period
    for harmonic in range(1, 30):
        loudness = sum(1 / (1 + ((harmonic * PITCH_HZ - formant) / 120) ** 2) for formant in formants)
        for at in range(period):
            samples[at] += loudness * math.sin(2 * math.pi * harmonic * at / period)
    peak = max(map(abs, samples))
    return [sample / peak for sample in samples]


def main():
    file, seconds = sys.argv[1], float(sys.argv[2])
    periods = [vowel(formants) for formants in VOWELS]
    samples = array.array("h")
    for at in range(round(seconds * RATE)):
        syllable, within = divmod(at / RATE, SYLLABLE_SECONDS)
        period = periods[int(syllable) % len(periods)]
        samples.append(round(12000 * math.sin(math.pi * within / SYLLABLE_SECONDS) * period[at % len(period)]))
    if sys.byteorder == "big":
        samples.byteswap()
    with wave.open(file, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(RATE)
        out.writeframes(samples.tobytes())


if __name__ == "__main__":
    main()
