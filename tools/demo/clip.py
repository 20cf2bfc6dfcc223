#!/usr/bin/env python3
"""Renders a character's avatar clip: somebody who listens, mouth at rest, in a loop without a jump.

    tools/demo/clip.py CHARACTER FOLDER [--size 704] [--seconds 10] [--threads N]

Writes FOLDER/avatar.mp4 (H.264, 25 frames a second, no sound) and FOLDER/avatar.json:
  clip      the file beside it
  face_box  [x, y, width, height] of the face in every frame, the window that the nets were trained on
  made_of   a checksum of all that decides about the clip; one that is there already is not made again
Both appear whole or not at all. FOLDER/pieces holds what is rendered so far, raw (0.4 GB in the end), so
that a clip that was stopped goes on there. Needs ffmpeg. A clip takes about 4 minutes on one core with
AVX-512.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import program

program.enter_environment()
import numpy as np  # noqa: E402

from faces import renderer  # noqa: E402
from faces.characters import AVATARS, Avatar  # noqa: E402
from files import save_arrays  # noqa: E402

PIECE_FRAMES = 25


@dataclass(frozen=True)
class Clip:
    """What is rendered; `seed` is that of the motion, `crf` x264's quality."""

    character: str
    size: int = 704
    seconds: float = 10
    seed: int | None = None
    crf: int = 18

    def rows(self) -> np.ndarray:
        own = AVATARS.get(self.character, Avatar()).motion_seed
        return renderer.idle_motion(self.seconds, own if self.seed is None else self.seed)


def make(folder: Path, clip: Clip, threads: int = 1) -> bool:
    """Writes clip and description; False where this clip was there already. Raises program.Failure."""
    box = renderer.face_box(clip.character, clip.size)
    rows = clip.rows()
    made_of = checksum(clip, rows)
    if is_made(folder, made_of):
        return False
    folder.mkdir(parents=True, exist_ok=True)
    pieces = render_pieces(folder / "pieces", clip, rows, threads)
    encode(folder / "avatar.mp4", clip, pieces)
    about = {"clip": "avatar.mp4", "face_box": list(box), "made_of": made_of}
    partial = folder / "avatar.json.partial"
    partial.write_text(json.dumps(about, indent=2) + "\n")
    os.replace(partial, folder / "avatar.json")
    shutil.rmtree(folder / "pieces")
    return True


def is_made(folder: Path, made_of: str) -> bool:
    about = folder / "avatar.json"
    if not about.exists() or not (folder / "avatar.mp4").exists():
        return False
    return json.loads(about.read_text()).get("made_of") == made_of


def checksum(clip: Clip, rows: np.ndarray) -> str:
    """SHA-256 of the renderer, the clip's options and its rows."""
    renderer_bytes = Path(renderer.program()).read_bytes()
    options = f"{clip.character} {clip.size} {clip.crf}".encode()
    return hashlib.sha256(renderer_bytes + options + rows.tobytes()).hexdigest()


def render_pieces(folder: Path, clip: Clip, rows: np.ndarray, threads: int) -> list[Path]:
    """The frames in order, a second a file, each named by its checksum; those that exist are kept."""
    paths = []
    for start in range(0, len(rows), PIECE_FRAMES):
        part = rows[start : start + PIECE_FRAMES]
        paths.append(folder / f"{checksum(clip, part)[:16]}.npz")
        if not paths[-1].exists():
            save_arrays(paths[-1], frames=renderer.render(clip.character, part, clip.size, threads=threads))
            done = start + len(part)
            print(f"{clip.character}: frame {done} of {len(rows)}", file=sys.stderr, flush=True)
    return paths


def encode(path: Path, clip: Clip, pieces: list[Path]) -> None:
    """All pieces in one pass to an MP4 file."""
    partial = path.with_suffix(".partial")
    encoder = subprocess.Popen(encoder_command(partial, clip.size, clip.crf), stdin=subprocess.PIPE)
    try:
        for piece in pieces:
            with np.load(piece) as file:
                encoder.stdin.write(file["frames"].tobytes())
    except BrokenPipeError:
        pass  # the encoder has ended, and said why
    finally:
        encoder.communicate()
    if encoder.returncode:
        raise program.Failure(f"ffmpeg ended with status {encoder.returncode} on {path}")
    os.replace(partial, path)


def encoder_command(path: Path, size: int, crf: int) -> list[str]:
    """ffmpeg's command line: raw frames on standard input to an MP4 file."""
    raw = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{size}x{size}", "-r", str(renderer.FPS)]
    h264 = ["-c:v", "libx264", "-preset", "slow", "-crf", str(crf), "-pix_fmt", "yuv420p"]
    still = ["-threads", "1", "-fflags", "+bitexact", "-flags:v", "+bitexact"]
    begin = ["ffmpeg", "-y", "-loglevel", "error", *raw, "-i", "-"]
    return [*begin, *h264, *still, "-movflags", "+faststart", "-f", "mp4", str(path)]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("character")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--size", type=program.count, default=704, help="pixels, a multiple of 4")
    parser.add_argument("--seconds", type=program.seconds, default=10)
    parser.add_argument("--seed", type=int, help="of the motion; each character has its own")
    parser.add_argument("--crf", type=int, default=18, help="x264's quality; smaller is better")
    parser.add_argument("--threads", type=program.count, default=1)
    given = parser.parse_args()

    clip = Clip(given.character, given.size, given.seconds, given.seed, given.crf)
    if not make(given.folder, clip, given.threads):
        print("clip.py: the clip is there already", file=sys.stderr)
    about = json.loads((given.folder / "avatar.json").read_text())
    path = given.folder / about["clip"]
    box = ",".join(map(str, about["face_box"]))
    print(f"{path}: {len(clip.rows())} frames, {path.stat().st_size / 1e6:.2f} MB, face box {box}")


if __name__ == "__main__":
    with program.errors_in_one_line("clip.py"):
        main()
