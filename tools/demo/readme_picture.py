#!/usr/bin/env python3
"""Makes the README's still and its short animated picture from rendered sentences.

    tools/demo/readme_picture.py RESULT.mp4... [--output docs/images] [--start S] [--seconds S]

RESULT.mp4 are what `navtalk infer` made, one or more characters, which come to stand side by side:
  hello.jpg    a moment within the picked seconds when all speak and nobody blinks
  hello.webp   the picked seconds, animated, without end; every browser and Git forge plays it
Needs ffmpeg. Says how large both are and fails when they pass 3 MB.
"""

import argparse
import subprocess
from pathlib import Path

import program

program.enter_environment()
import numpy as np  # noqa: E402
from PIL import Image  # noqa: E402

LIMIT_BYTES = 3_000_000


def frames_of(path: Path, side: int, fps: float, start: float, seconds: float) -> np.ndarray:
    """uint8 [N, side, side, 3] of a square video."""
    picked = ["-ss", str(start), "-t", str(seconds), "-i", str(path)]
    shape = ["-vf", f"fps={fps},scale={side}:{side}:flags=lanczos", "-pix_fmt", "rgb24"]
    command = ["ffmpeg", "-loglevel", "error", *picked, *shape, "-f", "rawvideo", "-"]
    result = subprocess.run(command, capture_output=True)
    if result.returncode:
        raise program.Failure(f"{path}: {result.stderr.decode().strip()}")
    return np.frombuffer(result.stdout, np.uint8).reshape(-1, side, side, 3)


def side_by_side(videos: list[np.ndarray]) -> np.ndarray:
    """[N, H, W, 3], as long as the shortest."""
    count = min(len(video) for video in videos)
    return np.concatenate([video[:count] for video in videos], axis=2)


def unrest(part: np.ndarray) -> np.ndarray:
    """[N] how far each frame of a part [N, H, W, 3] is from the median one, at most 1."""
    part = part.astype(np.float32)
    far = np.abs(part - np.median(part, axis=0)).mean(axis=(1, 2, 3))
    return far / max(far.max(), 1e-6)


def good_moment(videos: list[np.ndarray]) -> int:
    """The frame that shows all speak, mouths clearly but not utterly open, and nobody blink."""
    count = min(len(video) for video in videos)
    cost = np.zeros(count)
    for video in videos:
        rows = video.shape[1]
        eyes, mouth = video[:count, rows // 4 : rows // 2], video[:count, rows // 2 : rows * 3 // 4]
        cost += np.abs(unrest(mouth) - 0.65) + unrest(eyes)
    return int(cost.argmin())


def save_still(path: Path, frame: np.ndarray) -> None:
    Image.fromarray(frame).save(path, quality=90, optimize=True)


def save_animation(path: Path, frames: np.ndarray, fps: float, quality: int) -> None:
    pictures = [Image.fromarray(frame) for frame in frames]
    times = dict(save_all=True, append_images=pictures[1:], duration=round(1000 / fps), loop=0)
    pictures[0].save(path, quality=quality, method=6, **times)


def make(
    results: list[Path],
    output: Path,
    start: float = 0,
    seconds: float = 4,
    side: int = 400,
    fps: float = 25,
    quality: int = 72,
) -> str:
    """Writes both pictures; a line with their sizes. Raises program.Failure."""
    span = start, seconds
    small = [frames_of(path, side, fps, *span) for path in results]
    large = [frames_of(path, 2 * side, fps, *span) for path in results]
    if not all(len(video) for video in small):
        raise program.Failure("nothing in the picked seconds; see --start and --seconds")
    output.mkdir(parents=True, exist_ok=True)
    still, animation = output / "hello.jpg", output / "hello.webp"
    save_still(still, side_by_side(large)[good_moment(small)])
    save_animation(animation, side_by_side(small), fps, quality)
    sizes = [path.stat().st_size for path in (still, animation)]
    if sum(sizes) > LIMIT_BYTES:
        raise program.Failure(
            f"{output}: the pictures take {sum(sizes)} bytes, more than {LIMIT_BYTES}; lower --seconds, --side or --quality"
        )
    return f"{still}: {sizes[0]} bytes; {animation}: {sizes[1]} bytes"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", type=Path, nargs="+", metavar="RESULT.mp4")
    parser.add_argument("--output", type=Path, default=Path("docs/images"))
    parser.add_argument("--start", type=float, default=0, help="seconds")
    parser.add_argument("--seconds", type=program.seconds, default=4)
    parser.add_argument("--side", type=program.count, default=400, help="pixels of each character")
    parser.add_argument("--fps", type=program.count, default=25)
    parser.add_argument("--quality", type=int, default=72, help="of the animation, 0 to 100")
    given = parser.parse_args()

    span = given.start, given.seconds
    print(make(given.results, given.output, *span, given.side, given.fps, given.quality))


if __name__ == "__main__":
    with program.errors_in_one_line("readme_picture.py"):
        main()
