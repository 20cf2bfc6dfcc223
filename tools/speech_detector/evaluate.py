"""What the detector is worth, on sounds that it has not heard: in which slots of 40 ms the lips move.

    DIR/figures.json    all figures
"""

import json
import sys
from pathlib import Path

import numpy as np
import soundfile
import soxr
import torch

import mixtures
import playout
import recordings
import voices
from evaluation import unspoken
from features import COUNT, HOP, RATE_HZ, features
from net import detector_with
from speech import augment, non_speech

PAUSE_FRAMES = 40  # of silence, before what counts as a beginning
LATE_FRAMES = 4
SECONDS = 20
MUSIC_S = 20  # of each piece
UTTERANCES = 150  # of each package at most
AT_ONCE = 32  # sounds
LEVELS_DB = (-20, -30, -40, -55)


class Judge:
    """The net with the weights of DIR, as the C++ rounds them."""

    def __init__(self, state: dict[str, torch.Tensor]) -> None:
        self.net = detector_with({name: value.half().float() for name, value in state.items()})
        self.net.eval()

    def likelihood(self, samples: np.ndarray) -> np.ndarray:
        """[N] to [N // 160]. Half a second of near silence makes the net as new."""
        return self.likelihoods([samples])[0]

    def likelihoods(self, sounds: list[np.ndarray]) -> list[np.ndarray]:
        """The same of many sounds at once, which takes a fifth of the time."""
        found, parts = [], []
        for samples in sounds:
            power_db = mixtures.frame_db(samples)
            found.append(np.zeros(len(power_db), np.float32))
            parts += [(found[-1][begin:end], samples[begin * HOP : end * HOP]) for begin, end in playout.heard_parts(power_db)]
        parts.sort(key=lambda part: len(part[0]))
        for first in range(0, len(parts), AT_ONCE):
            self._answer(parts[first : first + AT_ONCE])
        return found

    @torch.no_grad()
    def _answer(self, parts: list[tuple[np.ndarray, np.ndarray]]) -> None:
        """Writes each part's likelihoods [T] from its samples [T * HOP]; what pads the shorter ones comes after them."""
        heard = np.zeros((len(parts), len(parts[-1][0]), COUNT), np.float32)
        for row, (likelihood, samples) in zip(heard, parts):
            row[: len(likelihood)] = features(samples)
        answers = torch.sigmoid(self.net(torch.from_numpy(heard))).numpy()
        for row, (likelihood, _) in zip(answers, parts):
            likelihood[:] = row[: len(likelihood)]
            likelihood[: playout.FIRST_COUNTED] = 0  # about what was before the sound, or hardly anything of it

    def slots(self, sounds: list[np.ndarray]) -> list[np.ndarray]:
        return [playout.speaking_slots(playout.speech_frames(likelihood)) for likelihood in self.likelihoods(sounds)]


def at_level(sound: np.ndarray, level_db: float) -> np.ndarray:
    return (10 ** (level_db / 20) * sound / (np.sqrt(np.mean(sound**2)) + 1e-9)).clip(-1, 1).astype(np.float32)


def stationary() -> dict[str, list[np.ndarray]]:
    """Noise of all colours by another maker than that of training, hums, tones, chords, rooms: SECONDS each, by name."""
    rng = np.random.default_rng(11)
    times = SECONDS // unspoken.SECONDS

    def lasting(sounds: list[np.ndarray]) -> list[np.ndarray]:
        return [np.tile(sound, times) for sound in sounds]

    sounds = {
        f"{name} noise": [np.concatenate([unspoken.noise(slope, seed) for seed in range(times)])]
        for name, slope in unspoken.SLOPES.items()
    }
    sounds["blue noise"] = [np.diff(rng.standard_normal(SECONDS * RATE_HZ + 1))]
    sounds["room tone"] = [non_speech.room_tone(SECONDS * RATE_HZ, np.random.default_rng([12, k])) for k in range(8)]
    sounds["hum of 50, 60, 100, 120 Hz"] = lasting([sum(unspoken.sine(hz * k) / k for k in range(1, 12)) for hz in unspoken.HUMS_HZ])
    sounds["tone of 440 Hz"] = lasting([unspoken.sine(440)])
    sounds["tones of 110 to 3000 Hz"] = lasting([unspoken.sine(hz) for hz in (110, 220, 880, 1000, 2000, 3000)])
    sounds["chord"] = lasting(
        [sum(shape(unspoken.sine(round(root * ratio))) for ratio in (1, 1.25, 1.5)) for root in (110, 200, 330) for shape in (np.sign, np.array)]
    )
    sounds["sweep"] = [np.sin(2 * np.pi * np.cumsum(np.geomspace(80, 6000, 5 * RATE_HZ)) / RATE_HZ)]
    sounds["melody"] = [np.tile(unspoken.melody(), 10)]
    sounds["keyboard"] = [mixtures.keys(SECONDS * RATE_HZ, np.random.default_rng([13, k])) for k in range(5)]
    return sounds


def recorded(work: Path) -> dict[str, list[np.ndarray]]:
    """Music and noises of packages that are held out, and music by a soundfont that is, by name."""
    sounds: dict[str, list[np.ndarray]] = {}
    for package, sound in recordings.load(work, recordings.MUSIC, True):
        sounds.setdefault(f"music: {package}", []).append(sound[: MUSIC_S * RATE_HZ])
    for package, sound in recordings.load(work, recordings.PLAYED, True):
        sounds.setdefault(f"instruments: {package}", []).append(sound)
    for package, sound in recordings.load(work, recordings.NOISES, True):
        sounds.setdefault(f"signals: {package}", []).append(np.pad(sound, (RATE_HZ // 2, RATE_HZ)))
    return sounds


def spoken(work: Path, recording: Path | None) -> dict[str, list[np.ndarray]]:
    """Speech of packages and voices that are held out, by name."""
    sounds: dict[str, list[np.ndarray]] = {"synthesised": voices.held_out()}
    for package, sound in recordings.load(work, recordings.SPEECH, True):
        sounds.setdefault(package, []).append(sound)
    sounds = {name: said[:: -(-len(said) // UTTERANCES)] for name, said in sounds.items()}
    if recording:
        samples, rate_hz = soundfile.read(recording, dtype="float32", always_2d=True)
        sounds[recording.stem] = [soxr.resample(samples.mean(axis=1), rate_hz, RATE_HZ).astype(np.float32)]
    return sounds


def runs(utterances: list[np.ndarray], seconds: float = 30) -> list[tuple[np.ndarray, np.ndarray]]:
    """Utterances of one level joined with pauses to sounds of some length, each with its speech [T] bool by energy."""
    rng, made, parts, speaks = np.random.default_rng(3), [], [], []
    for said in utterances:
        level = augment.level(said)
        if len(said) < RATE_HZ // 4 or level == 0:
            continue
        said = said[: len(said) // HOP * HOP] / level
        pause = int(rng.integers(50, 120))
        parts += [np.zeros(pause * HOP, np.float32), said]
        speaks += [np.zeros(pause, bool), mixtures.speech_of(said)[0]]
        if sum(map(len, parts)) > seconds * RATE_HZ:
            made.append((np.concatenate(parts), np.concatenate(speaks)))
            parts, speaks = [], []
    if parts:
        made.append((np.concatenate(parts), np.concatenate(speaks)))
    return made


def hearing(slots: np.ndarray, speaks: np.ndarray) -> dict[str, float]:
    """Counts of one sound: slots with speech in half of them, of these missed; beginnings, late ones; the delays [ms]."""
    count = min(len(slots), len(speaks) // 4)
    energy = speaks[: count * 4].reshape(-1, 4).sum(axis=1) >= 2
    padded = np.concatenate([np.zeros(PAUSE_FRAMES, bool), speaks])
    before = np.convolve(padded, np.ones(PAUSE_FRAMES))[PAUSE_FRAMES - 1 : PAUSE_FRAMES - 1 + len(speaks)]
    begins = np.flatnonzero(speaks & (before == 0))
    # Three frames of speech in a row: not a click.
    begins = [b for b in begins if speaks[b : b + 3].all()]
    late, delays = 0, []
    for begin in begins:
        after = np.flatnonzero(slots[begin // 4 :])
        first = (begin // 4 + after[0]) * 4 if len(after) else 10**6
        delays.append((first - begin) * 10)
        late += first - begin > LATE_FRAMES
    return {
        "slots": int(energy.sum()), "missed": int((energy & ~slots[:count]).sum()),
        "begins": len(begins), "late": int(late), "delays": delays,
        "moving": int(slots.sum()), "all": len(slots),
    }


def summary(found: list[dict]) -> dict[str, float]:
    total = {name: sum(f[name] for f in found) for name in ("slots", "missed", "begins", "late", "moving", "all")}
    delays = np.concatenate([f["delays"] for f in found]) if total["begins"] else np.zeros(1)
    return {
        "missed_percent": 100 * total["missed"] / max(1, total["slots"]),
        "late_percent": 100 * total["late"] / max(1, total["begins"]),
        "p95_delay_ms": float(np.percentile(delays, 95)),
        "slots": total["slots"], "begins": total["begins"],
        "moving_percent": 100 * total["moving"] / max(1, total["all"]),
    }


def surrounded(samples: np.ndarray, ratio_db: float, index: int) -> np.ndarray:
    """With noise of any colour, so many decibels below the speech (of level 1)."""
    noise = augment.coloured_noise(len(samples), np.random.default_rng([17, index]))
    return samples + 10 ** (-ratio_db / 20) * noise


def without_speech(work: Path, judge: Judge) -> list[dict]:
    """How much of it the lips move, by the detector and by the threshold that stood there before, for each sound and level."""
    rows = []
    for name, sounds in (stationary() | recorded(work)).items():
        for db in LEVELS_DB:
            leveled = [at_level(sound, db) for sound in sounds]
            moving = np.concatenate(judge.slots(leveled))
            loud = np.concatenate([playout.loud_slots(sound) for sound in leveled])
            rows.append({
                "name": name, "level_db": db, "seconds": len(moving) / 25,
                "moving_percent": 100 * float(moving.mean()), "threshold_percent": 100 * float(loud.mean()),
            })  # fmt: skip
    return rows


def speech(work: Path, recording: Path | None, judge: Judge) -> list[dict]:
    rows = []
    for name, utterances in spoken(work, recording).items():
        joined = runs(utterances)
        cases = {f"{db} dB": (db, None) for db in (-20, -35, -45, -55)}
        cases |= {f"-20 dB, noise {ratio} dB below": (-20, ratio) for ratio in (20, 10, 5)}
        for case, (db, ratio) in cases.items():
            sounds = []
            for index, (samples, _) in enumerate(joined):
                heard = samples if ratio is None else surrounded(samples, ratio, index)
                heard = (10 ** (db / 20) * heard).clip(-1, 1).astype(np.float32)
                sounds.append(np.round(heard * 32767).astype(np.float32) / 32768)
            truth = [speaks for _, speaks in joined]
            found = [hearing(slots, speaks) for slots, speaks in zip(judge.slots(sounds), truth)]
            threshold = [hearing(playout.loud_slots(sound), speaks) for sound, speaks in zip(sounds, truth)]
            rows.append({"name": name, "case": case, **summary(found), "threshold": summary(threshold)})
    return rows


def evaluate(work: Path, recording: Path | None, state: dict[str, torch.Tensor]) -> dict:
    judge = Judge(state)
    found = {"without_speech": without_speech(work, judge), "speech": speech(work, recording, judge)}
    (work / "figures.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    report(found)
    return found


def report(found: dict) -> None:
    """Both tables, as docs/experiments/speech-detector.md has them."""
    print("| sound | level | seconds | lips move | by the threshold |\n|---|---|---|---|---|", file=sys.stderr)
    for row in found["without_speech"]:
        print(
            f"| {row['name']} | {row['level_db']} dB | {row['seconds']:.0f} | {row['moving_percent']:.1f} % | {row['threshold_percent']:.0f} % |",
            file=sys.stderr,
        )
    print("\n| voice | level | slots | missed | begins late | p95 of the delay | missed by the threshold |\n|---|---|---|---|---|---|---|", file=sys.stderr)
    for row in found["speech"]:
        print(
            f"| {row['name']} | {row['case']} | {row['slots']} | {row['missed_percent']:.2f} % | {row['late_percent']:.1f} % of {row['begins']}"
            f" | {row['p95_delay_ms']:.0f} ms | {row['threshold']['missed_percent']:.2f} % |", file=sys.stderr,
        )
