"""The seen half of the data: rendered crops of the characters, in shards.

A group is one pose of one character: the crop at rest (the reference that the UNet sees at inference,
where the avatar's clip keeps its mouth shut) and several mouths at that pose, each belonging to an
audio context. Shard k of a character depends on the contexts and on k alone; a shard that exists is
kept, unless the encoder has been trained further since.

    DIR/faces/ADA-0000.npz   reference [G, 256, 256, 3], parts [G, K, 192, 192, 3] uint8,
                             mouths [G, K, 8] float32, context [G, K] int64, made_of: the
                             encoder's step
"""

import sys
import zlib
from pathlib import Path

import numpy as np

from faces import renderer
from faces.framing import FACE, PART, jittered, part_view
from files import is_made_of, save_arrays
from provenance import face_shards
from training.contexts import Contexts, rare_first

GROUPS, MOUTHS = 48, 3
HELD_BACK = 24  # groups for checks
MOTION_SECONDS = 12.0
SHARE_OF_MOVING_REFERENCES = 0.1  # whose own mouth is not at rest
LIVELINESS = (0.5, 1.8)  # times the amplitude of the idle motion


def shard_path(work: Path, character: str, shard: int) -> Path:
    return work / "faces" / f"{character}-{shard:04d}.npz"


def poses(character: str, count: int, rng: np.random.Generator) -> np.ndarray:
    """Rows [count, fields] with resting mouths, from all over somebody's idle motion."""
    motion = renderer.idle_motion(MOTION_SECONDS, int(rng.integers(1 << 30)), loop=False)
    rest = renderer.neutral(1)[0]
    rows = motion[rng.choice(len(motion), count, replace=count > len(motion))]
    swaying = slice(renderer.YAW, renderer.HEAD_Y + 1)
    rows[:, swaying] = rest[swaying] + (rows[:, swaying] - rest[swaying]) * rng.uniform(
        *LIVELINESS, (count, 1)
    )
    rows[:, renderer.SMILE] = np.clip(rows[:, renderer.SMILE] + rng.normal(0, 0.06, count), 0, 0.6)
    rows[:, renderer.VIEW] = jittered(renderer.face_view(character), count, rng)
    return rows.astype(np.float32)


def make_shard(
    work: Path,
    character: str,
    shard: int,
    contexts: Contexts,
    groups: int = GROUPS,
    threads: int = 1,
) -> bool:
    """Renders one shard; False where it was there already."""
    path = shard_path(work, character, shard)
    if is_made_of(path, contexts.made_of):
        return False
    rng = np.random.default_rng([zlib.crc32(character.encode()), shard])
    rows = poses(character, groups, rng)
    chosen = rng.choice(len(contexts.mouths), (groups, MOUTHS), p=rare_first(contexts.mouths))
    moving = rng.random(groups) < SHARE_OF_MOVING_REFERENCES
    others = contexts.mouths[rng.integers(len(contexts.mouths), size=groups)]
    references = rows.copy()
    references[moving, renderer.MOUTH] = others[moving]
    speaking = np.repeat(rows, MOUTHS, axis=0)
    speaking[:, renderer.MOUTH] = contexts.mouths[chosen.ravel()]
    speaking[:, renderer.VIEW] = part_view(speaking[:, renderer.VIEW])
    parts = renderer.render(character, speaking, PART, threads=threads)
    save_arrays(
        path,
        made_of=np.array(contexts.made_of),
        reference=renderer.render(character, references, FACE, threads=threads),
        parts=parts.reshape(groups, MOUTHS, *parts.shape[1:]),
        mouths=contexts.mouths[chosen],
        context=chosen,
    )
    return True


def make(work: Path, shards: int, contexts: Contexts, threads: int = 1) -> None:
    """`shards` of every character, alternating, with a line of progress each."""
    for shard in range(shards):
        for character in renderer.characters():
            if make_shard(work, character, shard, contexts, threads=threads):
                print(f"faces: {character} {shard + 1} of {shards}", file=sys.stderr, flush=True)


def split(groups: int) -> tuple[np.ndarray, np.ndarray]:
    """(training, held back): the numbers of all groups; some of every character are held back."""
    held = np.zeros(groups, bool)
    held[:: max(1, groups // HELD_BACK)] = True
    return np.flatnonzero(~held), np.flatnonzero(held)[:HELD_BACK]


def load_one(work: Path, name: str) -> np.ndarray:
    """One array of all shards of all characters, joined in the order of their file names."""
    pieces = []
    for path in face_shards(work):
        with np.load(path) as file:
            pieces.append(file[name])
    return np.concatenate(pieces)


def load(work: Path) -> dict[str, np.ndarray]:
    """The crops of all shards: reference and parts, uint8."""
    return {name: load_one(work, name) for name in ("reference", "parts")}
