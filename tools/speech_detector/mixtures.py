"""Clips for training: speech in all surroundings, and all surroundings without speech, with what is asked of each frame.

Clip k of a set depends on k and the pools alone. Everything is float32 at 16 kHz, frames of 10 ms.
"""

from dataclasses import dataclass

import numpy as np
import soxr
from scipy.ndimage import binary_closing
from scipy.signal import butter, fftconvolve, sosfilt

from features import HOP
from speech import augment, non_speech

RATE_HZ = 16000
SECONDS = 8
COUNT = SECONDS * RATE_HZ
FRAMES = COUNT // HOP
SHARE_OF_SPEECH = 0.5
SHARE_OF_SYLLABLES = 0.3  # of the clips with speech: single ones with pauses, not sentences
SYLLABLE_S = (0.12, 0.6)
SHARE_OF_BEGINNINGS = 0.5  # of the clips without speech: sounds that begin again and again, where they are told apart worst
# Of an utterance's own level: quieter frames are no speech; those between are not asked for.
SPEECH_DB, PERHAPS_DB = -30.0, -42.0
GAP_FRAMES = 12  # shorter ones are a part of the word
AFTER_FRAMES = 25  # after a word nothing is asked for
BURIED_DB = -8.0  # speech that is so much quieter than what is around it is not asked for
AROUND_LEVELS_DB = (-70.0, -8.0)
BEGINNING_LEVELS_DB = (-45.0, -8.0)
SPEECH_LEVELS_DB = (-58.0, -10.0)
MUSIC_PACE, VOICE_PACE = 0.25, 0.08  # how much faster or slower, as spreads of a logarithm


@dataclass(frozen=True)
class Pools:
    """What the clips are made of: sounds [N] float32."""

    recorded: list[np.ndarray]
    synthetic: list[np.ndarray]
    syllables: list[np.ndarray]
    music: list[np.ndarray]
    played: list[np.ndarray]  # by soundfonts
    noises: list[np.ndarray]


@dataclass(frozen=True)
class Clip:
    """samples [COUNT]; speaks [FRAMES] bool; weights [FRAMES], 0: nothing is asked for."""

    samples: np.ndarray
    speaks: np.ndarray
    weights: np.ndarray


def frame_db(samples: np.ndarray) -> np.ndarray:
    """Decibels of full scale of each frame [N // HOP]."""
    frames = samples[: len(samples) // HOP * HOP].reshape(-1, HOP)
    return 10 * np.log10(np.mean(frames.astype(np.float64) ** 2, axis=1) + 1e-12)


def speech_of(samples: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(speaks, perhaps) [N // HOP] bool of a clean utterance, by energy: relative to its level, and above its own noise."""
    power_db = frame_db(samples)
    level_db = 20 * np.log10(augment.level(samples) + 1e-9)
    floor_db = np.percentile(power_db, 5)
    least_db = max(level_db + SPEECH_DB, min(floor_db + 10, level_db - 15))
    speaks = power_db > least_db
    perhaps = power_db > least_db + PERHAPS_DB - SPEECH_DB
    return speaks, perhaps


def _decibels(value_db: float) -> float:
    return 10 ** (value_db / 20)


def _pick(pool: list[np.ndarray], rng: np.random.Generator) -> np.ndarray:
    return pool[rng.integers(len(pool))]


def _played_at(sound: np.ndarray, spread: float, rng: np.random.Generator) -> np.ndarray:
    """A sound at another pace and pitch, mostly."""
    if rng.random() < 0.3:
        return sound
    pace = float(np.exp(np.clip(rng.normal(0, spread), -2 * spread, 2 * spread)))
    return soxr.resample(sound, RATE_HZ * pace, RATE_HZ)


def compressed(samples: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """As broadcasters and synthesisers have it: hardly a difference of loudness between sounds of a word."""
    length = int(rng.uniform(0.02, 0.1) * RATE_HZ)
    window = np.hanning(length + 2)[1:-1]
    envelope = np.sqrt(np.maximum(0, fftconvolve(samples.astype(np.float64) ** 2, window / window.sum(), "same")))
    least = 10 ** (rng.uniform(-40, -20) / 20) * (augment.level(samples) + 1e-9)
    return (samples * np.maximum(envelope, least) ** -rng.uniform(0.3, 0.95)).astype(np.float32)


def _excerpt(sound: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """COUNT samples of a sound, from anywhere; a shorter one comes again and again, with pauses."""
    if len(sound) > COUNT:
        begin = rng.integers(len(sound) - COUNT)
        return sound[begin : begin + COUNT].copy()
    made = np.zeros(COUNT, np.float32)
    at = int(rng.integers(RATE_HZ))
    while at < COUNT:
        take = min(len(sound), COUNT - at)
        made[at : at + take] += sound[:take]
        at += take + int(rng.exponential(0.6) * RATE_HZ)
    return made


def _unit(sound: np.ndarray) -> np.ndarray:
    return (sound / (np.sqrt(np.mean(sound**2)) + 1e-9)).astype(np.float32)


def blue(count: int, rng: np.random.Generator) -> np.ndarray:
    """Noise whose spectrum rises."""
    return _unit(np.diff(rng.standard_normal(count + 1)))


def keys(count: int, rng: np.random.Generator) -> np.ndarray:
    """Somebody types: pairs of short clicks, in runs."""
    sound = np.zeros(count, np.float32)
    at = int(rng.integers(RATE_HZ))
    while at < count:
        for offset_s, strength in ((0.0, 1.0), (rng.uniform(0.04, 0.12), rng.uniform(0.2, 0.7))):
            length = int(rng.uniform(0.003, 0.03) * RATE_HZ)
            begin = at + int(offset_s * RATE_HZ)
            take = min(length, count - begin)
            if take > 8:
                burst = rng.standard_normal(take) * np.exp(-np.arange(take) / (0.25 * length))
                sound[begin : begin + take] += strength * rng.uniform(0.4, 1) * burst
        at += int((rng.uniform(0.07, 0.3) if rng.random() < 0.9 else rng.uniform(0.5, 2)) * RATE_HZ)
    return _unit(augment.resonance(sound, rng))


def surroundings(pools: Pools, rng: np.random.Generator) -> np.ndarray:
    """What is heard where nobody speaks [COUNT], of unit power."""
    kind = rng.random()
    if kind < 0.5:
        whole = _pick(pools.music if rng.random() < 0.65 else pools.played, rng)
        begin = rng.integers(max(1, len(whole) - 2 * COUNT))
        sound = _excerpt(_played_at(whole[begin : begin + 2 * COUNT], MUSIC_PACE, rng), rng)
    elif kind < 0.58:
        sound = _excerpt(_played_at(_pick(pools.noises, rng), MUSIC_PACE, rng), rng)
    elif kind < 0.60:
        sound = blue(COUNT, rng)
    elif kind < 0.63:
        sound = keys(COUNT, rng)
    else:
        makers = non_speech.KINDS
        maker = makers[rng.choice(len(makers), p=[share for _, share, _ in makers])][0]
        sound = maker(COUNT, rng)
    return _unit(sound)


def _changing(pools: Pools, rng: np.random.Generator) -> np.ndarray:
    """Surroundings that begin, end or pass into others at some time, at a random level."""
    sound = surroundings(pools, rng) * _decibels(rng.uniform(*AROUND_LEVELS_DB))
    kind = rng.random()
    if kind < 0.25:
        at = rng.integers(COUNT)
        sound[at:] = surroundings(pools, rng)[at:] * _decibels(rng.uniform(*AROUND_LEVELS_DB))
    elif kind < 0.45:
        begin, end = np.sort(rng.integers(0, COUNT, 2))
        sound[:begin] = sound[end:] = 0
    if rng.random() < 0.3:
        sound = sound + surroundings(pools, rng) * _decibels(rng.uniform(*AROUND_LEVELS_DB))
    return sound


def _beginnings(pools: Pools, rng: np.random.Generator) -> np.ndarray:
    """Two surroundings by turns, each for 0.7 to 4 s from anywhere in it, with silence between."""
    sounds = [surroundings(pools, rng) for _ in range(2)]
    made, at = np.zeros(COUNT, np.float32), int(rng.choice([0, rng.integers(RATE_HZ)]))
    while at < COUNT - RATE_HZ // 4:
        take = min(int(rng.uniform(0.7, 4) * RATE_HZ), COUNT - at)
        begin = rng.integers(COUNT - take + 1)
        part = sounds[rng.integers(2)][begin : begin + take]
        made[at : at + take] = _unit(part) * _decibels(rng.uniform(*BEGINNING_LEVELS_DB))
        at += take + int(rng.uniform(0.55, 1.2) * RATE_HZ)
    return made


def _telephone(samples: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    edges = rng.uniform(150, 350), rng.uniform(3000, 3900)
    return sosfilt(butter(4, edges, "bandpass", fs=RATE_HZ, output="sos"), samples).astype(np.float32)


def _as_recorded(samples: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """What a microphone and a connection make of a sound; nothing is moved in time."""
    chain = ((augment.tilt, 0.5), (augment.resonance, 0.4), (augment.low_pass, 0.2), (_telephone, 0.12), (augment.drive, 0.1))
    return augment.apply(samples, chain, rng)


def _cut(said: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A syllable or so out of an utterance: between two quiet frames, from one that is speech on, with short fades."""
    power_db = frame_db(said)
    speaks = np.flatnonzero(speech_of(said)[0])
    if len(speaks) < 10:
        return said
    least, most = (int(s * RATE_HZ / HOP) for s in SYLLABLE_S)
    first = int(rng.choice(speaks))
    reach = power_db[max(0, first - 12) : first + 1]
    begin = first - (len(reach) - 1 - int(np.argmin(reach)))
    ends = power_db[begin + least : begin + most]
    if len(ends) < 4:
        return said
    # Not always the quietest: a letter that is held is longer.
    length = int(rng.integers(3, len(ends) + 1))
    end = begin + least + int(np.argmin(ends[:length]))
    made = said[begin * HOP : (end + 1) * HOP].copy()
    fade = np.linspace(0, 1, HOP, dtype=np.float32)
    made[:HOP] *= fade
    made[-HOP:] *= fade[::-1]
    return made


def _syllable(pools: Pools, rng: np.random.Generator) -> np.ndarray:
    """One alone: recorded as such, or cut out of what people or synthesisers say."""
    kind = rng.random()
    if kind < 0.4:
        return _pick(pools.syllables, rng)
    return _cut(_pick(pools.recorded if kind < 0.8 else pools.synthetic, rng), rng)


def _utterances(pools: Pools, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Speech of unit level with pauses: samples [COUNT], speaks, perhaps [FRAMES]."""
    samples = np.zeros(COUNT, np.float32)
    speaks, perhaps = np.zeros(FRAMES, bool), np.zeros(FRAMES, bool)
    recorded, alone = rng.random() < 0.6, rng.random() < SHARE_OF_SYLLABLES
    frame = int(rng.choice([0, rng.integers(100), rng.integers(350)]))
    while frame < FRAMES - 20:
        said = _syllable(pools, rng) if alone else _pick(pools.recorded if recorded else pools.synthetic, rng)
        if rng.random() < 0.3 and not alone:  # in the middle of a word
            said = said[rng.integers(len(said) // 2) :]
        said = _played_at(said, VOICE_PACE, rng)
        whole_speaks, whole_perhaps = speech_of(said)
        if rng.random() < 0.35:
            said = compressed(said, rng)
        said = said / (augment.level(said) + 1e-9) * _decibels(rng.uniform(-5, 5))
        count = min(len(said) // HOP, FRAMES - frame)
        said = said[: count * HOP]
        samples[frame * HOP : (frame + count) * HOP] = said
        speaks[frame : frame + count], perhaps[frame : frame + count] = whole_speaks[:count], whole_perhaps[:count]
        pauses = [rng.integers(30, 150), rng.integers(50, 250)] if alone else [rng.integers(5, 60), rng.integers(30, 250)]
        frame += count + int(rng.choice(pauses))
    return samples, speaks, perhaps


def asked(speaks: np.ndarray, perhaps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(speaks, weights) [T]: short gaps are speech; next to it, and where it is too quiet, nothing is asked for."""
    padded = np.pad(speaks, GAP_FRAMES)
    whole = binary_closing(padded, np.ones(GAP_FRAMES + 1))[GAP_FRAMES:-GAP_FRAMES] | speaks
    after = np.convolve(whole, np.ones(AFTER_FRAMES + 1))[: len(whole)] > 0
    before = np.append(whole[2:], [False, False]) | np.append(whole[1:], False)
    weights = np.where(whole, 1.0, np.where(after | before | perhaps, 0.0, 1.0))
    return whole, weights.astype(np.float32)


def spoken_clip(pools: Pools, rng: np.random.Generator) -> Clip:
    samples, speaks, perhaps = _utterances(pools, rng)
    whole, weights = asked(speaks, perhaps)
    level_db = rng.uniform(*SPEECH_LEVELS_DB)
    if rng.random() < 0.35:
        samples = augment.room(samples, rng)
    samples = samples * _decibels(level_db)
    if rng.random() < 0.65:
        ratio_db = rng.uniform(3, 15) if rng.random() < 0.5 else rng.uniform(15, 50)
        around = surroundings(pools, rng) * _decibels(level_db - ratio_db)
        buried = frame_db(samples) < frame_db(around) + BURIED_DB
        weights = np.where(whole & buried, 0.0, weights).astype(np.float32)
        samples = samples + around
    return _finished(samples, whole, weights, rng)


def silent_clip(pools: Pools, rng: np.random.Generator) -> Clip:
    sound = _beginnings(pools, rng) if rng.random() < SHARE_OF_BEGINNINGS else _changing(pools, rng)
    if rng.random() < 0.2:
        sound = augment.room(sound, rng)
    return _finished(sound, np.zeros(FRAMES, bool), np.ones(FRAMES, np.float32), rng)


def _finished(samples: np.ndarray, speaks: np.ndarray, weights: np.ndarray, rng: np.random.Generator) -> Clip:
    peak = float(np.abs(samples).max(initial=0))
    if peak > 1.5:
        samples = samples * (1.5 / peak)
    samples = np.clip(_as_recorded(samples, rng), -1, 32767 / 32768)
    return Clip((np.round(samples * 32768) / 32768).astype(np.float32), speaks, weights)


def clip(pools: Pools, set_number: int, index: int) -> Clip:
    rng = np.random.default_rng([set_number, index])
    return spoken_clip(pools, rng) if rng.random() < SHARE_OF_SPEECH else silent_clip(pools, rng)
