"""Recorded sounds, from Debian packages: what people say in six languages, music, and noises of games and desktops.

A folder holds them unpacked (`make` has the commands); nothing of them is kept elsewhere. What is held out is never heard
in training.
"""

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import soundfile
import soxr

import instruments
from program import Failure

RATE_HZ = 16000
MOST_S = {False: 24, True: 60}  # of one file for training, and of one that is held out; from a sixth of its length on
MOST_FILES = 600  # of one package for training, evenly taken
SPEECH, SYLLABLES, MUSIC, NOISES, PLAYED = "speech", "syllables", "music", "noises", "played"
PIECES, PIECES_HELD_OUT = 96, 24  # that each soundfont plays
# Package, what it holds, whether it is held out, the part of a path that a file must have, and one that it must not have.
# Voices that announce (loudspeaker tests) and beeps among speech are left out by name.
PACKAGES = (
    ("asterisk-core-sounds-en-g722", SPEECH, False, ".g722", ("beep", "silence", "tone", "moh")),
    ("asterisk-core-sounds-es-g722", SPEECH, False, ".g722", ("beep", "silence", "tone", "moh")),
    ("asterisk-core-sounds-fr-g722", SPEECH, False, ".g722", ("beep", "silence", "tone", "moh")),
    ("fillets-ng-data-cs", SPEECH, False, "/cs/", ()),
    ("fillets-ng-data-nl", SPEECH, False, "/nl/", ()),
    ("ktuberling-data", SPEECH, False, "/sounds/", ()),
    ("asterisk-core-sounds-it-g722", SPEECH, True, ".g722", ("beep", "silence", "tone", "moh")),
    ("asterisk-core-sounds-ru-g722", SPEECH, True, ".g722", ("beep", "silence", "tone", "moh")),
    ("pocketsphinx-testdata", SPEECH, True, "/data/", (".raw",)),
    ("klettres-data", SPEECH, True, "/klettres/", ()),
    ("gcin-voice", SYLLABLES, False, "/ogg/", ()),
    ("asc-music", MUSIC, False, "/music/", ()),
    ("hyperrogue-music", MUSIC, False, "/hr", ()),  # its other files are calls and noises
    ("singularity-music", MUSIC, False, ".ogg", ()),
    ("wesnoth-1.16-music", MUSIC, False, ".ogg", ()),
    ("lomiri-sounds", MUSIC, False, ".ogg", ()),
    ("nexuiz-music", MUSIC, False, "/cdtracks/", ("digital-pursuit",)),
    ("tecnoballz-data", MUSIC, False, ".mod", ()),
    ("ufoai-music", MUSIC, False, "/music/", ()),
    ("amoebax-data", MUSIC, False, "/music/", ()),
    ("ardentryst", MUSIC, False, "/Music/", ()),
    ("extremetuxracer-data", MUSIC, False, "/music/", ()),
    ("fillets-ng-data", MUSIC, False, "/music/", ("ves-hs-papa",)),
    ("freedroidrpg-data", MUSIC, False, "/music/", ()),
    ("lincity-ng-data", MUSIC, False, "/music/", ()),
    ("lordsawar-data", MUSIC, False, "/music/", ()),
    ("starfighter-data", MUSIC, False, "/music/", ()),
    ("supertux-data", MUSIC, False, "/music/", ()),
    ("widelands-data", MUSIC, False, "/music/", ()),
    ("xmoto-data", MUSIC, False, "/Musics/", ()),
    ("gunroar-data", MUSIC, False, "/musics/", ()),
    ("torus-trooper-data", MUSIC, False, "/musics/", ()),
    ("titanion-data", MUSIC, False, "/musics/", ()),
    ("drascula-music", MUSIC, True, "/audio/", ("track1.", "track2.", "track29.", "track30.", "track31.")),
    ("planetblupi-music-ogg", MUSIC, True, ".ogg", ()),
    ("pushover-data", MUSIC, True, ".ogg", ()),
    ("warzone2100-music", MUSIC, True, ".opus", ()),
    ("bucklespring-data", NOISES, False, ".wav", ()),
    ("colobot-common-sounds", NOISES, False, "/sounds/", ()),
    ("oxygen-sounds", NOISES, False, ".ogg", ()),
    ("tecnoballz-data", NOISES, False, ".wav", ()),
    ("yaru-theme-sound", NOISES, False, ".oga", ()),
    ("deepin-sound-theme", NOISES, True, ".wav", ()),
    ("sound-theme-freedesktop", NOISES, True, ".oga", ("audio-channel", "audio-test")),
)
ENDINGS = {".g722", ".ogg", ".oga", ".opus", ".wav", ".mp3", ".mod", ".it", ".xm", ".s3m"}


def by_ffmpeg(path: Path) -> np.ndarray:
    """[N] int16 at 16 kHz, mono; empty where ffmpeg finds no sound."""
    form = ["-f", "g722"] if path.suffix == ".g722" else []
    command = ["ffmpeg", "-v", "error", "-nostdin", *form, "-i", str(path), "-ac", "1", "-ar", str(RATE_HZ), "-f", "s16le", "-"]
    done = subprocess.run(command, capture_output=True, check=False)
    return np.frombuffer(done.stdout[: len(done.stdout) // 2 * 2], np.int16)


def decoded(path: Path, most_s: int) -> np.ndarray:
    """[N] int16 at 16 kHz, mono, at most most_s; empty where there is no sound. Short files take less time than a process."""
    try:
        with soundfile.SoundFile(path) as file:
            longer = file.frames > most_s * file.samplerate
            file.seek(file.frames // 6 if longer else 0)
            sound = file.read(most_s * file.samplerate if longer else -1, dtype="float32", always_2d=True).mean(axis=1)
            sound = soxr.resample(sound, file.samplerate, RATE_HZ)
            return np.round(np.clip(sound, -1, 1) * 32767).astype(np.int16)
    except soundfile.LibsndfileError:
        samples = by_ffmpeg(path)
    if len(samples) > most_s * RATE_HZ:
        begin = len(samples) // 6
        samples = samples[begin : begin + most_s * RATE_HZ]
    return samples


def together(paths: list[Path]) -> list[np.ndarray]:
    """The same of files in G.722, whose bytes are two samples each, by one process instead of one each."""
    with tempfile.NamedTemporaryFile(suffix=".g722") as joined:
        joined.write(b"".join(path.read_bytes() for path in paths))
        joined.flush()
        whole = by_ffmpeg(Path(joined.name))
    return np.split(whole, np.cumsum([2 * path.stat().st_size for path in paths])[:-1])


def kept_path(work: Path, kind: str, held_out: bool) -> Path:
    return work / "recordings" / f"{kind}-{'held-out' if held_out else 'training'}.npz"


def _paths(packages: Path, package: str, within: str, without: tuple[str, ...]) -> list[Path]:
    """The files of a package that are wanted, archives in it opened; Failure where it is missing."""
    if not (packages / package).is_dir():
        raise Failure(f"{packages} has no {package}: apt-get download {package}, then dpkg -x into a folder of that name")
    for archive in (packages / package).rglob("*.pk3"):
        with zipfile.ZipFile(archive) as packed:
            packed.extractall(archive.parent)
    found = [
        path
        for path in sorted((packages / package).rglob("*"))
        if path.suffix in ENDINGS and within in str(path) and not any(word in path.name for word in without)
    ]
    if not found:
        raise Failure(f"{packages / package} has no sounds in {within}")
    return found


def _keep(work: Path, kind: str, held_out: bool, sounds: list[tuple[str, np.ndarray]]) -> None:
    kept_path(work, kind, held_out).parent.mkdir(parents=True, exist_ok=True)
    ends = np.cumsum([len(sound) for _, sound in sounds])
    names = [package for package, _ in sounds]
    np.savez(kept_path(work, kind, held_out), samples=np.concatenate([s for _, s in sounds]), ends=ends, packages=names)
    print(f"recordings: {kind}, {'held out' if held_out else 'training'}: {ends[-1] / RATE_HZ / 60:.0f} min", file=sys.stderr)


def make(work: Path, packages: Path) -> None:
    """Decodes all packages of the folder, and plays music by its soundfonts; Failure names the first one that is missing."""
    groups = {(kind, held_out) for _, kind, held_out, _, _ in PACKAGES}
    for kind, held_out in sorted(groups):
        if kept_path(work, kind, held_out).exists():
            continue
        sounds = []
        for package, of, out, within, without in PACKAGES:
            if (of, out) != (kind, held_out):
                continue
            paths = _paths(packages, package, within, without)
            if not held_out:
                paths = paths[:: -(-len(paths) // MOST_FILES)]
            in_one = not held_out and all(path.suffix == ".g722" for path in paths)
            for samples in together(paths) if in_one else (decoded(path, MOST_S[held_out]) for path in paths):
                if len(samples) >= RATE_HZ // 5 and np.abs(samples).max() > 300:
                    sounds.append((package, samples))
        _keep(work, kind, held_out, sounds)
    for held_out, soundfonts, count in ((False, instruments.SOUNDFONTS, PIECES), (True, instruments.HELD_OUT, PIECES_HELD_OUT)):
        if not kept_path(work, PLAYED, held_out).exists():
            played = instruments.play(packages, soundfonts, count, 31 + held_out)
            _keep(work, PLAYED, held_out, [(name, np.round(sound.clip(-1, 1) * 32767).astype(np.int16)) for name, sound in played])


def names() -> list[str]:
    """All packages that `make` wants."""
    return list(dict.fromkeys([name for name, *_ in PACKAGES] + [*instruments.SOUNDFONTS, *instruments.HELD_OUT]))


def load(work: Path, kind: str, held_out: bool) -> list[tuple[str, np.ndarray]]:
    """(package, [N] float32 in [-1, 1)) of each file; Failure where `make` has not run."""
    path = kept_path(work, kind, held_out)
    if not path.exists():
        raise Failure(f"{path} is missing: run the stage recordings first")
    with np.load(path) as kept:
        sounds = np.split(kept["samples"], kept["ends"][:-1])
        return [(str(name), sound.astype(np.float32) / 32768) for name, sound in zip(kept["packages"], sounds)]
