"""The demo's avatars and pictures, by the navtalk that was built: what tools/demo/make ends with.

    DIR/clips/ADA/      avatar.mp4, avatar.json: a clip and its face box (clip.py)
    DIR/avatars/ADA/    the bundle
    DIR/picture/ADA.mp4 its sentence, for the README's picture

Nothing is put into the output folder before it is whole, and then in one step (files.replace_folder).
"""

import shutil
import subprocess
import sys
from pathlib import Path

import clip
import readme_picture
from faces import renderer
from faces.characters import AVATARS, SENTENCE
from files import replace_folder
from program import Failure, find_navtalk

BUNDLE_FILES = {"avatar.json", "faces.json", "frames.mp4", "latents.safetensors", "masks.safetensors"}


def make_clips(work: Path, output: Path, anew: bool, threads: int) -> None:
    """Clips of those whose bundle in `output` has none yet; of all with `anew`."""
    for name in AVATARS:
        shipped = shipped_clip(output, name)
        if shipped.exists() and not anew:
            print(f"clips: {shipped} is kept (--new-clips renders another)", file=sys.stderr)
        else:
            clip.make(work / "clips" / name, clip.Clip(name), threads)


def shipped_clip(output: Path, name: str) -> Path:
    return output / "avatars" / name / "frames.mp4"


def make_avatars(work: Path, output: Path, navtalk: Path, anew: bool) -> None:
    """Bundles of all characters; from the clips that `output` has, unless there are none, or `anew`."""
    for name in AVATARS:
        rendered = work / "clips" / name / "avatar.mp4"
        shipped = shipped_clip(output, name)
        source = shipped if shipped.exists() and not anew else rendered
        if not source.exists():
            raise Failure(f"{source} is missing: run the stage clips first")
        bundle = work / "avatars" / name
        bundle.parent.mkdir(parents=True, exist_ok=True)
        call(navtalk, *prepare_options(name, source, bundle, output / "models"))
        put_in_place(bundle, output / "avatars" / name)
        print(f"avatars: {output / 'avatars' / name}", file=sys.stderr)


def put_in_place(bundle: Path, target: Path) -> None:
    """A copy of the bundle, in one step, for what was there."""
    partial = target.with_name(target.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    shutil.copytree(bundle, partial)  # which makes the folders above it, too
    replace_folder(partial, target, BUNDLE_FILES)


def prepare_options(name: str, source: Path, bundle: Path, models: Path) -> list[str | Path]:
    """`navtalk avatar prepare` and all that it must know of a character."""
    box = ",".join(str(number) for number in renderer.face_box(name, picture_side(source)))
    latents = ["--models", models] if AVATARS[name].with_latents else ["--no-latents"]
    what = ["--video", source, "--face-box", box, "--parsing-mode", "none", "--loop", "--voice", AVATARS[name].voice]
    return ["avatar", "prepare", *what, *latents, "--output", bundle, "--force"]


def picture_side(video: Path) -> int:
    """Width of a square video, in pixels."""
    shown = ["-select_streams", "v:0", "-show_entries", "stream=width", "-of", "csv=p=0"]
    result = subprocess.run(["ffprobe", "-v", "error", *shown, video], capture_output=True, text=True)
    if result.returncode or not result.stdout.strip().isdecimal():
        raise Failure(f"{video} is not a video that can be read: {result.stderr.strip()}")
    return int(result.stdout)


def make_picture(work: Path, output: Path, navtalk: Path, pictures: Path) -> None:
    """The README's still and animation, of all characters saying the sentence."""
    results = []
    for name in AVATARS:
        results.append(work / "picture" / f"{name}.mp4")
        results[-1].parent.mkdir(parents=True, exist_ok=True)
        which = ["--avatar", output / "avatars" / name, "--models", output / "models"]
        call(navtalk, "infer", *which, "--text", SENTENCE, "--output", results[-1], "--force")
    print(readme_picture.make(results, pictures))


def call(navtalk: Path, *arguments: str | Path) -> None:
    """Runs navtalk; its own words are shown, and Failure says that it failed."""
    if subprocess.run([find_navtalk(navtalk), *arguments]).returncode:
        raise Failure(f"{navtalk} {' '.join(arguments[:2])} failed")
