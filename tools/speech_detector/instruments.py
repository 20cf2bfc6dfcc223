"""Music that is drawn as MIDI and played by a soundfont: melodies by one instrument alone, and with chords, bass and drums.

All General MIDI programs but those that imitate voices or noises play. Notes slide, tremble and swell, as players have it.
"""

import subprocess
import tempfile
from pathlib import Path

import numpy as np
import soundfile
import soxr

from program import Failure

RATE_HZ, SYNTHESISER_HZ = 16000, 32000
SECONDS = 12  # of a piece; the last one and a half fade
TICKS_A_SECOND = 480  # at 120 beats a minute and 240 ticks a beat
VOICES = (52, 53, 54, 85, 91)  # choirs, and leads that sing: neither music nor speech here
FIRST_EFFECT = 120  # from there on: breath, birds, applause
DRUMS = 9  # the channel
SOUNDFONTS = {
    "fluid-soundfont-gm": "usr/share/sounds/sf2/FluidR3_GM.sf2",
    "musescore-general-soundfont-small": "usr/share/sounds/sf3/MuseScore_General_Lite.sf3",
    "opl3-soundfont": "usr/share/sounds/sf2/OPL-3_FM_128M.sf2",
}
HELD_OUT = {"timgm6mb-soundfont": "usr/share/sounds/sf2/TimGM6mb.sf2"}
SCALES = ((0, 2, 4, 5, 7, 9, 11), (0, 2, 3, 5, 7, 8, 10), (0, 3, 5, 6, 7, 10), (0, 2, 4, 7, 9), tuple(range(12)))

Event = tuple[float, bytes]  # seconds, what is sent


def _length(value: int) -> bytes:
    """MIDI's numbers of variable length: seven bits a byte, the last one without the eighth."""
    parts = [value & 0x7F]
    while value := value >> 7:
        parts.append(value & 0x7F | 0x80)
    return bytes(parts[::-1])


def midi(events: list[Event]) -> bytes:
    """A file of one track; events at the same time keep their order."""
    track, now = bytearray(), 0
    for second, sent in sorted(events, key=lambda event: event[0]):
        tick = round(max(0.0, second) * TICKS_A_SECOND)
        track += _length(tick - now) + sent
        now = tick
    track += b"\x00\xff\x2f\x00"
    return b"MThd\x00\x00\x00\x06\x00\x00\x00\x01\x00\xf0" + b"MTrk" + len(track).to_bytes(4, "big") + bytes(track)


def _control(channel: int, number: int, value: float) -> bytes:
    return bytes([0xB0 | channel, number, int(np.clip(value, 0, 127))])


def _bend(channel: int, semitones: float) -> bytes:
    value = int(np.clip(8192 + semitones / 2 * 8192, 0, 16383))
    return bytes([0xE0 | channel, value & 0x7F, value >> 7])


def _note(channel: int, key: int, begin_s: float, end_s: float, strength: float) -> list[Event]:
    key = int(np.clip(key, 0, 127))
    return [
        (begin_s, bytes([0x90 | channel, key, int(np.clip(strength, 1, 127))])),
        (end_s, bytes([0x80 | channel, key, 0])),
    ]


def _part(channel: int, root: int, scale: tuple[int, ...], beat_s: float, notes_at_once: int, rng: np.random.Generator) -> list[Event]:
    """One instrument's notes from 0 to SECONDS - 1.5: a walk on the scale, with rests, of one manner."""
    programs = [p for p in range(FIRST_EFFECT) if p not in VOICES]
    events = [(0.0, bytes([0xC0 | channel, int(rng.choice(programs))])), (0.0, _control(channel, 7, rng.uniform(60, 127)))]
    tremble, slide, swell = rng.random() < 0.4, rng.random() < 0.3, rng.random() < 0.4
    held, steps = rng.uniform(0.4, 1.1), rng.choice([0.5, 1, 1, 2, 4])
    if tremble:
        events.append((0.0, _control(channel, 1, rng.uniform(20, 127))))
    place, now = int(rng.integers(len(scale))), float(rng.exponential(0.4))
    while now < SECONDS - 1.5:
        lasts = beat_s * steps * rng.choice([0.5, 1, 1, 2]) if rng.random() < 0.6 else beat_s * steps
        place = int(np.clip(place + rng.integers(-3, 4), -len(scale), 2 * len(scale)))
        if rng.random() > 0.12:
            for voice in range(notes_at_once):
                octave, step = divmod(place + 2 * voice, len(scale))
                events += _note(channel, root + 12 * octave + scale[step], now, now + held * lasts, rng.uniform(50, 120))
            if slide and rng.random() < 0.5:
                away = rng.uniform(-2, 2)
                events += [(now + 0.12 * k / 8, _bend(channel, away * (1 - k / 8))) for k in range(9)]
            if swell:
                least, most = rng.uniform(40, 100), 127
                events += [(now + lasts * k / 8, _control(channel, 11, least + (most - least) * np.sin(np.pi * k / 8))) for k in range(9)]
        now += float(lasts)
    return events


def _drums(beat_s: float, rng: np.random.Generator) -> list[Event]:
    events = [(0.0, _control(DRUMS, 7, rng.uniform(50, 127)))]
    kit = [int(rng.choice(keys)) for keys in ((35, 36), (38, 40, 37, 39), (42, 46, 51), (41, 45, 48, 56, 60, 62, 75))]
    pattern = rng.random((4, 8)) < np.array([[0.4], [0.3], [0.6], [0.12]])
    for number in range(int((SECONDS - 1.5) / (beat_s / 2))):
        for which in np.flatnonzero(pattern[:, number % 8]):
            events += _note(DRUMS, kit[which], number * beat_s / 2, number * beat_s / 2 + 0.1, rng.uniform(50, 120))
    return events


def piece(rng: np.random.Generator) -> list[Event]:
    """SECONDS of music: nearly half of them one instrument alone, a tenth drums alone."""
    beat_s = float(np.exp(rng.uniform(np.log(0.2), np.log(1.0))))
    scale, root = SCALES[rng.integers(len(SCALES))], int(rng.integers(36, 60))
    kind = rng.random()
    if kind < 0.1:
        return _drums(beat_s, rng)
    events = _part(0, root + 12 * int(rng.integers(0, 3)), scale, beat_s, 1 if rng.random() < 0.75 else 3, rng)
    if kind > 0.55:
        if rng.random() < 0.6:
            events += _part(1, root, scale, 2 * beat_s, 3, rng)
        if rng.random() < 0.6:
            events += _part(2, root - 12, scale, beat_s, 1, rng)
        if rng.random() < 0.6:
            events += _drums(beat_s, rng)
    return events


def _between() -> list[Event]:
    """Everything as new on each channel."""
    return [(0.0, bytes([0xB0 | channel, number, 0])) for channel in (0, 1, 2, DRUMS) for number in (120, 121)]


def played(soundfont: Path, count: int, rng: np.random.Generator) -> list[np.ndarray]:
    """`count` pieces [SECONDS RATE_HZ] float32; Failure without fluidsynth or the soundfont."""
    events: list[Event] = []
    for number in range(count):
        events += [(number * SECONDS + second, sent) for second, sent in _between() + piece(rng) if second < SECONDS]
    with tempfile.TemporaryDirectory() as folder:
        score, sound = Path(folder) / "score.mid", Path(folder) / "sound.wav"
        score.write_bytes(midi(events))
        options = [f"synth.reverb.room-size={rng.uniform(0, 0.9):.2f}", f"synth.reverb.level={rng.uniform(0, 0.8):.2f}"]
        command = ["fluidsynth", "-q", "-n", "-i", "-C", "0", "-r", str(SYNTHESISER_HZ), "-g", "0.4", "-F", str(sound), "-T", "wav"]
        for option in options:
            command += ["-o", option]
        try:
            subprocess.run([*command, str(soundfont), str(score)], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise Failure(f"fluidsynth does not play {soundfont}: {error}") from error
        whole, _ = soundfile.read(sound, dtype="float32", always_2d=True)
    mono = soxr.resample(whole.mean(axis=1), SYNTHESISER_HZ, RATE_HZ)
    pieces = [mono[k * SECONDS * RATE_HZ : (k + 1) * SECONDS * RATE_HZ] for k in range(count)]
    return [one.astype(np.float32) for one in pieces if np.abs(one).max(initial=0) > 0.005]


def play(packages: Path, soundfonts: dict[str, str], pieces: int, seed: int) -> list[tuple[str, np.ndarray]]:
    """(package, sound) of so many pieces by each soundfont, eight to a room."""
    found = []
    for number, (package, path) in enumerate(soundfonts.items()):
        for turn in range(0, pieces, 8):
            rng = np.random.default_rng([seed, number, turn])
            found += [(package, one) for one in played(packages / package / path, min(8, pieces - turn), rng)]
    return found
