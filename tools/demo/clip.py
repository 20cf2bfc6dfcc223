#!/usr/bin/env python3
"""Renders a character's avatar clip: somebody who listens, mouth at rest, in a loop without a jump.

    tools/demo/clip.py CHARACTER FOLDER [--size 704] [--seconds 10] [--threads N]

Writes FOLDER/avatar.mp4 (H.264, 25 frames a second, no sound) and FOLDER/avatar.json:
  clip      the file beside it
  face_box  [x, y, width, height] of the face in every frame, the window that the nets were trained on
Both appear whole or not at all. Needs ffmpeg. A clip takes about 4 minutes on one core with AVX-512.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import program

program.enter_environment()
import renderer  # noqa: E402

# Seeds of the motion, so that two characters side by side do not move alike.
SEEDS = {"ada": 6, "theo": 9}


def encoder(path: Path, size: int, crf: int) -> list[str]:
    """ffmpeg's command line: raw frames on standard input to an MP4 file."""
    raw = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{size}x{size}", "-r", str(renderer.FPS)]
    h264 = ["-c:v", "libx264", "-preset", "slow", "-crf", str(crf), "-pix_fmt", "yuv420p"]
    still = ["-threads", "1", "-fflags", "+bitexact", "-flags:v", "+bitexact"]
    begin = ["ffmpeg", "-y", "-loglevel", "error", *raw, "-i", "-"]
    return [*begin, *h264, *still, "-movflags", "+faststart", "-f", "mp4", str(path)]


def write_clip(path: Path, character: str, rows, size: int, threads: int, crf: int) -> None:
    """Renders `rows` in the full view to an MP4 file; raises renderer.RenderError."""
    partial = path.with_suffix(".partial")
    writer = subprocess.Popen(encoder(partial, size, crf), stdin=subprocess.PIPE)
    done = 0
    try:
        for frames in renderer.stream(character, rows, size, "full", threads):
            writer.stdin.write(frames.tobytes())
            done += len(frames)
            print(f"{character}: frame {done} of {len(rows)}", file=sys.stderr)
    finally:
        writer.stdin.close()
        writer.wait()
    if writer.returncode:
        raise renderer.RenderError(f"ffmpeg ended with status {writer.returncode}")
    os.replace(partial, path)


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

    box = renderer.face_box(given.character, given.size)
    given.folder.mkdir(parents=True, exist_ok=True)
    seed = SEEDS.get(given.character, 0) if given.seed is None else given.seed
    rows = renderer.idle_motion(given.seconds, seed)
    clip = given.folder / "avatar.mp4"
    write_clip(clip, given.character, rows, given.size, given.threads, given.crf)
    about = {"clip": clip.name, "face_box": list(box)}
    partial = given.folder / "avatar.json.partial"
    partial.write_text(json.dumps(about, indent=2) + "\n")
    os.replace(partial, given.folder / "avatar.json")
    print(f"{clip}: {len(rows)} frames, {clip.stat().st_size / 1e6:.2f} MB, face box {box}")


if __name__ == "__main__":
    with program.errors_in_one_line("clip.py"):
        main()
