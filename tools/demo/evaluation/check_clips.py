"""The truth that evaluation compares with: held-out sentences in held-out voices, rendered.

    DIR/check/ADA-00.npz   samples [N] float32, track [T, 8] (of the phonemes), resting [T, 256, 256, 3]
                           (what the avatar's clip shows), truth [T, 256, 256, 3]
"""

import sys
from pathlib import Path

import numpy as np

from faces import renderer
from faces.framing import FACE, PART, part_view, with_part
from files import save_arrays
from speech import speech_data
from speech.tracks import FRAME_S


def clip_path(work: Path, character: str, index: int) -> Path:
    return work / "check" / f"{character}-{index:02d}.npz"


def make_clip(work: Path, character: str, index: int) -> bool:
    """Renders one clip; False where it was there already."""
    path = clip_path(work, character, index)
    if path.exists():
        return False
    clip = speech_data.clip_of_set("check", index)
    track = clip.track[1::2]
    rows = renderer.idle_motion(len(track) * FRAME_S, 1000 + index, loop=False)[: len(track)]
    rows[:, renderer.VIEW] = renderer.face_view(character)
    resting = renderer.render(character, rows, FACE)
    rows[:, renderer.MOUTH] = track
    rows[:, renderer.VIEW] = part_view(rows[:, renderer.VIEW])
    parts = renderer.render(character, rows, PART)
    truth = np.stack([with_part(rest, part) for rest, part in zip(resting, parts)])
    save_arrays(path, samples=clip.samples, track=track, resting=resting, truth=truth)
    return True


def make(work: Path, clips: int) -> None:
    for index in range(clips):
        for character in renderer.characters():
            if make_clip(work, character, index):
                print(f"check: {character} {index + 1} of {clips}", file=sys.stderr, flush=True)


def load(work: Path, character: str, clips: int) -> list[dict[str, np.ndarray]]:
    """The first `clips` of a character."""
    loaded = []
    for index in range(clips):
        with np.load(clip_path(work, character, index)) as file:
            loaded.append(dict(file))
    return loaded
