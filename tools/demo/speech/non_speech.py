"""Sounds in which nobody speaks: rooms, hums, tones, chords, music, knocks.

Every maker takes a number of 16 kHz samples and a generator and returns float32 [count] of unit power; the same
generator state gives the same sound. `heard` draws one and gives it a level.
"""

import numpy as np
from scipy.signal import butter, lfilter, sosfilt

from speech import augment
from speech.augment import RATE_HZ, coloured_noise

TONE_HZ = (40.0, 6000.0)
HIGHEST_HZ = 0.45 * RATE_HZ  # of a partial
STEPS_OF_A_SCALE = ((0, 2, 4, 5, 7, 9, 11), (0, 2, 3, 5, 7, 8, 10), (0, 3, 5, 6, 7, 10), (0, 2, 4, 7, 9))


def _unit(sound: np.ndarray) -> np.ndarray:
    """Power 1; a sound of nothing stays nothing."""
    return (sound / (sound.std() + 1e-9)).astype(np.float32)


def _between(rng: np.random.Generator, least: float, most: float) -> float:
    """Evenly drawn on a logarithmic scale."""
    return float(np.exp(rng.uniform(np.log(least), np.log(most))))


def _slow(count: int, rng: np.random.Generator, rate_hz: tuple[float, float]) -> np.ndarray:
    """A sine [count] of a random slow rate, from a random phase."""
    angle = 2 * np.pi * _between(rng, *rate_hz) / RATE_HZ * np.arange(count, dtype=np.float32)
    return np.sin(angle + rng.uniform(0, 2 * np.pi)).astype(np.float32)


def room_tone(count: int, rng: np.random.Generator) -> np.ndarray:
    """A room, a street, a fan: noise of any colour, with the room's peaks, that swells a little."""
    sound = coloured_noise(count, rng)
    for _ in range(rng.integers(0, 4)):
        sound = augment.resonance(sound, rng)
    edges = rng.random(2)
    if edges[0] < 0.4:
        sound = augment.low_pass(sound, rng) if edges[1] < 0.3 else _below(sound, _between(rng, 150, 5000))
    elif edges[0] < 0.6:
        sound = sound - _below(sound, _between(rng, 60, 1500))
    if rng.random() < 0.4:
        sound = sound * (1 + rng.uniform(0.05, 0.6) * _slow(count, rng, (0.1, 12)))
    sound = _unit(sound)
    return _unit(sound + rng.uniform(0.1, 1.5) * hum(count, rng)) if rng.random() < 0.2 else sound


def _below(sound: np.ndarray, edge_hz: float) -> np.ndarray:
    return sosfilt(butter(2, edge_hz, fs=RATE_HZ, output="sos"), sound).astype(np.float32)


def hum(count: int, rng: np.random.Generator) -> np.ndarray:
    """Mains or a motor: 45 to 130 Hz and partials of random strength, at times the even ones only."""
    mains = rng.random() < 0.6
    pitch_hz = rng.choice([50.0, 60.0, 100.0, 120.0]) * rng.uniform(0.995, 1.005) if mains else _between(rng, 45, 400)
    numbers = np.arange(1, rng.integers(2, 20))
    strength = rng.random(len(numbers)) * numbers ** -rng.uniform(0, 2)
    if rng.random() < 0.3:
        strength[2::2] = 0
    return _partials(np.full(count, pitch_hz, np.float32), strength, rng)


def _partials(pitch_hz: np.ndarray, strength: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The sum of the partials of a pitch [count] that may move, each from a random phase."""
    angle = (2 * np.pi / RATE_HZ * np.cumsum(pitch_hz, dtype=np.float64)) % (2 * np.pi)
    turn = np.exp(1j * angle.astype(np.float32))
    partials = max(1, min(len(strength), int(HIGHEST_HZ / pitch_hz.max())))
    factors = strength[:partials] * np.exp(2j * np.pi * rng.random(partials))
    sound = np.zeros(len(pitch_hz), np.complex64)
    for factor in factors[::-1].astype(np.complex64):  # Horner: partial k is the k-th power of the turn
        sound = (sound + factor) * turn
    return _unit(sound.real)


def timbre(rng: np.random.Generator) -> np.ndarray:
    """Strengths of partials: a sine, a square, or up to 16 partials that fade slowly or fast."""
    kind = rng.random()
    if kind < 0.4:
        return np.ones(1)
    numbers = np.arange(1, rng.integers(2, 17) + 1)
    strength = numbers ** -rng.uniform(0.3, 2.5) * rng.uniform(0.3, 1, len(numbers))
    if kind < 0.55:
        strength[1::2] = 0
    return strength


def tone(count: int, rng: np.random.Generator) -> np.ndarray:
    """A whistle, siren, beep or held note, 40 to 6000 Hz: steady, with vibrato, sliding, in steps, or in pulses."""
    pitch_hz = np.full(count, _between(rng, *TONE_HZ), np.float32)
    kind = rng.random()
    if kind < 0.2:  # vibrato, a siren
        pitch_hz *= 2 ** (_between(rng, 0.01, 0.5) * _slow(count, rng, (0.2, 8)))
    elif kind < 0.35:  # a slide
        pitch_hz *= 2 ** np.linspace(0, rng.uniform(-2, 2), count, dtype=np.float32)
    elif kind < 0.45:  # two or three pitches by turns
        pitch_hz *= np.array([1, rng.uniform(0.5, 1.8), rng.uniform(0.5, 1.8)], np.float32)[_turns(count, rng, 3)]
    sound = _partials(pitch_hz.clip(*TONE_HZ), timbre(rng), rng)
    kind = rng.random()
    if kind < 0.25:  # pulses
        open_ = (_turns(count, rng, 2) == 0).astype(np.float32)
        open_ = open_ if open_.any() else np.ones_like(open_)
        smooth = int(_between(rng, 0.001, 0.03) * RATE_HZ)
        sound = sound * np.convolve(open_, np.full(smooth, 1 / smooth, np.float32), "same")
    elif kind < 0.4:  # a tremolo
        sound = sound * (1 + rng.uniform(0.1, 0.95) * _slow(count, rng, (0.5, 15)))
    return _unit(sound)


def _turns(count: int, rng: np.random.Generator, choices: int) -> np.ndarray:
    """0, 1, ... by turns [count], of 0.05 to 1.5 s each, from anywhere in a turn."""
    length = int(_between(rng, 0.05, 1.5) * RATE_HZ)
    return (np.arange(count) + rng.integers(0, choices * length)) // length % choices


def chord(count: int, rng: np.random.Generator) -> np.ndarray:
    """Two to five held notes of one timbre: an organ, a signal."""
    strength, root_hz = timbre(rng), _between(rng, 60, 900)
    steps = rng.choice(25, rng.integers(2, 6), replace=False)
    vibrato = 2 ** (rng.uniform(0, 0.02) * _slow(count, rng, (3, 8)))
    sound = sum(
        rng.uniform(0.3, 1) * _partials((root_hz * 2 ** (step / 12) * vibrato).astype(np.float32), strength, rng)
        for step in steps
    )
    return _unit(sound * (1 + rng.uniform(0, 0.6) * _slow(count, rng, (0.1, 6))))


def knocks(count: int, rng: np.random.Generator) -> np.ndarray:
    """Clicks, keys, steps, drops: bursts that ring for 1 to 150 ms, regular or not."""
    gap = int(_between(rng, 0.03, 1.0) * RATE_HZ)
    if rng.random() < 0.5:
        at = np.arange(rng.integers(gap), count, gap)
    else:
        at = rng.integers(0, count, max(1, count // gap))
    sound = np.zeros(count, np.float32)
    sound[at] = rng.uniform(0.2, 1, len(at)) * rng.choice([-1, 1], len(at))
    ring_s = _between(rng, 0.001, 0.15)
    length = min(count, int(3 * ring_s * RATE_HZ) + 8)
    burst = coloured_noise(length, rng) if rng.random() < 0.6 else _partials(
        np.full(length, _between(rng, 80, 4000), np.float32), timbre(rng), rng
    )
    burst = burst * np.exp(-np.arange(length) / (ring_s * RATE_HZ))
    return _unit(np.convolve(sound, burst)[:count] if len(at) < 40 else lfilter(burst[:400], [1.0], sound))


def music(count: int, rng: np.random.Generator) -> np.ndarray:
    """A lead or chords over a bass and beats, each at times, of one scale and tempo; at times in a room."""
    beat = int(_between(rng, 0.12, 0.7) * RATE_HZ)
    scale = STEPS_OF_A_SCALE[rng.integers(len(STEPS_OF_A_SCALE))]
    key_hz = _between(rng, 55, 110)
    sound = np.zeros(count, np.float32)
    if rng.random() < 0.8:
        sound += _part(count, beat, key_hz * 2 ** rng.integers(1, 4), scale, rng, voices=1)
    if rng.random() < 0.7:
        long = beat * int(rng.choice([2, 4, 8]))
        sound += rng.uniform(0.3, 1) * _part(count, long, key_hz * 2 ** rng.integers(1, 3), scale, rng, voices=3)
    if rng.random() < 0.6:
        sound += rng.uniform(0.3, 1.2) * _part(count, beat * int(rng.choice([1, 2])), key_hz / 2, scale, rng, voices=1)
    if rng.random() < 0.6 or not sound.any():
        sound += rng.uniform(0.2, 1.5) * beats(count, beat, rng)
    if rng.random() < 0.4:
        sound = augment.room(sound, rng)
    if rng.random() < 0.4:
        sound = augment.resonance(augment.tilt(sound, rng), rng)
    return _unit(sound)


def _part(count: int, beat: int, root_hz: float, scale, rng: np.random.Generator, voices: int) -> np.ndarray:
    """One instrument's notes [count]: plucked, struck or held, that wander over the scale."""
    strength = timbre(rng)
    held = rng.random() < 0.35
    attack = int((_between(rng, 0.02, 0.3) if held else _between(rng, 0.001, 0.01)) * RATE_HZ)
    decay = (100.0 if held else _between(rng, 0.08, 1.2)) * RATE_HZ
    vibrato = _between(rng, 1e-4, 0.03) if rng.random() < 0.4 else 0.0
    length_beats = rng.uniform(0.4, 1.0) if held else rng.uniform(0.6, 3.0)
    sound = np.zeros(count, np.float32)
    place = int(rng.integers(0, len(scale)))
    for start in range(-int(rng.integers(beat)), count, beat):
        place = int(np.clip(place + rng.integers(-3, 4), -4, 2 * len(scale)))
        first, take = max(start, 0), min(count, start + int(length_beats * beat)) - max(start, 0)
        if take < 64 or rng.random() < 0.15:
            continue
        time = np.arange(take, dtype=np.float32)
        shape = np.minimum(1, (time + 1) / max(attack, 1)) * np.exp(-time / decay) * np.minimum(1, (take - time) / 160)
        for voice in range(voices):
            octave, step = divmod(place + 2 * voice, len(scale))
            pitch_hz = np.full(take, root_hz * 2 ** (octave + scale[step] / 12), np.float32)
            if vibrato:
                pitch_hz *= 2 ** (vibrato * _slow(take, rng, (4, 7)))
            if pitch_hz.max() < HIGHEST_HZ:
                note = rng.uniform(0.5, 1) * shape * _partials(pitch_hz, strength, rng)
                sound[first : first + take] += note
    return _unit(sound) if sound.any() else sound


def beats(count: int, beat: int, rng: np.random.Generator) -> np.ndarray:
    """Drums [count]: a low one that falls in pitch, and bursts of noise of two kinds."""
    sound = np.zeros(count, np.float32)
    time = np.arange(min(count, int(0.35 * RATE_HZ)), dtype=np.float32) / RATE_HZ
    low_hz = rng.uniform(40, 90) * (1 + rng.uniform(1, 4) * np.exp(-time / 0.03))
    drum = np.sin(2 * np.pi * np.cumsum(low_hz) / RATE_HZ) * np.exp(-time / rng.uniform(0.05, 0.2))
    snare = coloured_noise(len(time), rng) * np.exp(-time / rng.uniform(0.03, 0.12))
    hat = np.diff(rng.standard_normal(len(time) + 1)) * np.exp(-time / rng.uniform(0.01, 0.08))
    pattern = rng.random((3, 8)) < np.array([[0.4], [0.3], [0.6]])
    strength = (1.5, rng.uniform(0.2, 0.8), rng.uniform(0.1, 0.4))
    for number, start in enumerate(range(int(rng.integers(beat)), count, max(beat // 2, 200))):
        for which, hit in enumerate((drum, snare, hat)):
            if pattern[which, number % 8]:
                take = min(len(hit), count - start)
                sound[start : start + take] += strength[which] * rng.uniform(0.6, 1) * hit[:take]
    return _unit(sound) if sound.any() else sound


# (maker, how often, least and most decibels of full scale)
KINDS = (
    (room_tone, 0.22, (-75, -12)),
    (coloured_noise, 0.06, (-75, -14)),
    (hum, 0.10, (-60, -14)),
    (tone, 0.14, (-60, -10)),
    (chord, 0.08, (-50, -10)),
    (music, 0.34, (-50, -10)),
    (knocks, 0.06, (-60, -14)),
)


def heard(count: int, rng: np.random.Generator, most_db: float = 0.0) -> np.ndarray:
    """One of all kinds [count], at a random level that is at most `most_db`; it may begin and end suddenly."""
    maker, _, (least, most) = KINDS[rng.choice(len(KINDS), p=[share for _, share, _ in KINDS])]
    sound = maker(count, rng)
    if rng.random() < 0.25:
        begin, end = np.sort(rng.integers(0, count, 2))
        sound[:begin] = sound[end:] = 0
    level_db = rng.uniform(min(least, most_db - 10), min(most, most_db))
    return (10 ** (level_db / 20) * sound).astype(np.float32)
