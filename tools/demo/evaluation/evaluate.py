"""Prints what the trained model is worth, and draws what it makes beside the truth.

    DIR/evaluation/ADA.jpg           truth above, generated below
    DIR/evaluation/ADA-speech.jpg    the same character speaking a recording (--speech)
    DIR/evaluation/figures.json      all the figures
"""

import json
from pathlib import Path

import cv2
import numpy as np
import soundfile
import soxr

from evaluation import check_clips, figures, live_hearing, unspoken
from evaluation.generator import Generator
from evaluation.probe import Probe
from faces import renderer
from faces.framing import FACE
from nets.device import DEVICE
from nets.vae import decode, latents_of, to_pixels
from program import Failure
from speech.mel import RATE_HZ
from speech.tracks import FRAME_S
from speech.visemes import PARAMETERS

JAW, WIDE, ROUND = (PARAMETERS.index(name) for name in ("jaw", "wide", "round"))
SHEET_FRAMES, PROBE_SHARDS = 8, 12
# (figure, least, most): what the model is asked for.
WANTED = (
    ("jaw", 0.85, None), ("wide", 0.6, None), ("round", 0.5, None),
    ("flicker", None, 1.0), ("gradient_energy", 0.5, None), ("silent_jaw", None, 0.05),
    ("unspoken_jaw", None, 0.03), ("live_psnr", 35.0, None), ("live_jaw", 0.98, None),
)  # fmt: skip


def figures_of(probe: Probe, clips: list[dict], made: list[np.ndarray]) -> dict[str, float]:
    """All figures of one character from its clips and the crops made for them."""
    track = np.concatenate([clip["track"] for clip in clips])
    truth = np.concatenate([clip["truth"] for clip in clips])
    crops = np.concatenate(made)
    read = probe(crops)
    real = probe(truth)
    silent = np.concatenate([figures.silent_frames(clip["track"]) for clip in clips])
    ends = np.cumsum([len(clip["track"]) for clip in clips])[:-1]

    def flicker(mouths: np.ndarray) -> float:
        return np.mean([figures.second_difference(s[:, JAW]) for s in np.split(mouths, ends)])

    def amplitude(parameter: int) -> float:
        """Spread of what is read, to that of the truth: below 1 the mouth is lazy."""
        return float(read[:, parameter].std() / real[:, parameter].std())

    found = {
        name: figures.correlation(read[:, k], track[:, k]) for k, name in enumerate(PARAMETERS)
    }
    return found | {
        "probe_on_truth_jaw": figures.correlation(real[:, JAW], track[:, JAW]),
        "flicker": float(flicker(read) / flicker(real)),
        "amplitude_jaw": amplitude(JAW),
        "amplitude_wide": amplitude(WIDE),
        "amplitude_round": amplitude(ROUND),
        "silent_jaw": float(read[silent, JAW].mean()) if silent.any() else 0.0,
        "silent_jaw_most": float(read[silent, JAW].max()) if silent.any() else 0.0,
        "gradient_energy": figures.gradient_energy(crops) / figures.gradient_energy(truth),
        "psnr_mouth": figures.psnr(figures.mouth_of(crops), figures.mouth_of(truth)),
        "psnr_lower_half": figures.psnr(figures.lower_half(crops), figures.lower_half(truth)),
        "seam": figures.seam(crops, np.concatenate([clip["resting"] for clip in clips])),
    }


def vae_figures(generator: Generator, truth: np.ndarray) -> dict[str, float]:
    """What the VAE alone makes of the truth: no UNet on top can do better."""
    latent = latents_of(generator.vae, truth, blank_lower_half=False)
    crops = np.concatenate([to_pixels(decode(generator.vae, one[None].to(DEVICE))) for one in latent])
    return {
        "vae_psnr_mouth": figures.psnr(figures.mouth_of(crops), figures.mouth_of(truth)),
        "vae_gradient_energy": figures.gradient_energy(crops) / figures.gradient_energy(truth),
    }


def contact_sheet(path: Path, rows: list[np.ndarray]) -> None:
    """Every row's frames (the same number in each) side by side, the rows below each other."""
    chosen = np.linspace(0, len(rows[0]) - 1, SHEET_FRAMES).astype(int)
    sheet = np.vstack([np.hstack(list(row[chosen])) for row in rows])
    path.parent.mkdir(parents=True, exist_ok=True)
    cv2.imwrite(str(path), sheet[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, 92])


def probe_of(work: Path, character: str) -> Probe:
    """From the character's first shards of faces; Failure where there are none."""
    shards = []
    for path in sorted((work / "faces").glob(f"{character}-*.npz"))[:PROBE_SHARDS]:
        with np.load(path) as file:
            shards.append(dict(file))
    if not shards:
        raise Failure(f"{work / 'faces'} holds no shard of {character}: run the stage faces first")
    return Probe.of_shards(shards)


def recorded_figures(probe: Probe, samples: np.ndarray, made: np.ndarray) -> dict[str, float]:
    """A recording has no track: does the jaw follow its loudness, and rest where it is quiet?"""
    step = int(FRAME_S * RATE_HZ)
    frames = samples[: len(made) * step].reshape(len(made), step)
    loudness = 20 * np.log10(np.sqrt((frames**2).mean(1)) + 1e-5)
    loudness = np.convolve(loudness, np.ones(3) / 3, "same")
    jaw = probe(made)[:, JAW]
    quiet = loudness < np.percentile(loudness, 95) - 35
    return {
        "jaw_against_loudness": figures.correlation(jaw, loudness),
        "jaw_mean": float(jaw.mean()),
        "quiet_jaw": float(jaw[quiet].mean()) if quiet.any() else 0.0,
    }


def recording(path: Path) -> np.ndarray:
    """At most ten seconds of an audio file, [N] at 16 kHz; Failure where it is none."""
    try:
        samples, rate_hz = soundfile.read(path, dtype="float32", always_2d=True)
    except soundfile.SoundFileError as error:
        raise Failure(f"{path} is no recording that can be read: {error}") from error
    return soxr.resample(samples.mean(1), rate_hz, RATE_HZ)[: 10 * RATE_HZ].astype(np.float32)


def speak_recording(generator, probe: Probe, character: str, samples: np.ndarray, sheet: Path) -> dict:
    """The character's idle motion, speaking samples [N] at 16 kHz."""
    count = int(len(samples) / RATE_HZ / FRAME_S)
    rows = renderer.idle_motion(count * FRAME_S, 7, loop=False)[:count:8]
    rows[:, renderer.VIEW] = renderer.face_view(character)
    resting = np.repeat(renderer.render(character, rows, FACE), 8, axis=0)[:count]
    made = generator.faces(samples, resting)
    contact_sheet(sheet, [made[k::5][: len(made) // 5] for k in (0, 2)])
    return recorded_figures(probe, samples, made)


def sound_figures(generator, probe: Probe, character: str, spoken: np.ndarray) -> dict[str, float]:
    """The resting face at sounds without speech, and hearing `spoken` as a live session does."""
    rows = renderer.neutral(1)
    rows[:, renderer.VIEW] = renderer.face_view(character)
    resting = renderer.render(character, rows, FACE)
    unspoken_jaws = unspoken.jaws(generator, probe, resting)
    for name, jaw in unspoken_jaws.items():
        print(f"  {character} at {name}: jaw {jaw:.3f}")
    found = live_hearing.figures_of(generator, probe, spoken, resting)
    return found | {"unspoken_jaw": max(unspoken_jaws.values())}


def evaluate(work: Path, clips: int, speech: Path | None = None) -> list[str]:
    """Prints the figures of every character, writes sheets and JSON; the figures that were missed."""
    generator = Generator.load(work)  # what cannot be evaluated is said before anything is rendered
    probes = {character: probe_of(work, character) for character in renderer.characters()}
    samples = recording(speech) if speech is not None else None
    check_clips.make(work, clips)
    found = {}
    for character, probe in probes.items():
        checks = check_clips.load(work, character, clips)
        made = [generator.faces(clip["samples"], clip["resting"]) for clip in checks]
        found[character] = figures_of(probe, checks, made)
        found[character] |= vae_figures(generator, checks[0]["truth"][::4])
        found[character] |= sound_figures(generator, probe, character, checks[0]["samples"])
        contact_sheet(work / f"evaluation/{character}.jpg", [checks[0]["truth"], made[0]])
        if samples is not None:
            sheet = work / f"evaluation/{character}-speech.jpg"
            found[character] |= speak_recording(generator, probe, character, samples, sheet)
        _print(character, found[character])
    (work / "evaluation/figures.json").write_text(json.dumps(found, indent=2) + "\n")
    return [f"{who}'s {name}" for who, values in found.items() for name in missed(values)]


def missed(found: dict[str, float]) -> list[str]:
    """The figures that are not what the model is asked for."""
    return [
        name
        for name, least, most in WANTED
        if (least is not None and found[name] < least) or (most is not None and found[name] > most)
    ]


def _print(character: str, found: dict[str, float]) -> None:
    print(f"{character}:")
    wanted = {name: (least, most) for name, least, most in WANTED}
    failed = missed(found)
    for name, value in found.items():
        least, most = wanted.get(name, (None, None))
        bound = f"at least {least}" if least is not None else f"at most {most}" if most else ""
        print(f"  {name:22s} {value:8.3f}  {bound}{'  MISSED' if name in failed else ''}".rstrip())
