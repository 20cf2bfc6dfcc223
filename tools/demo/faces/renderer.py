"""The demo's characters, rendered: named columns of the rows that render_head reads, frames as arrays.

    rows = renderer.neutral(50)
    rows[:, renderer.JAW] = np.linspace(0, 1, 50)
    frames = renderer.render("ada", rows, 256, view="face")       # uint8 [50, 256, 256, 3]

../render/README.md describes every column. The program is built by CMake when it is first needed;
NAVTALK_RENDER_HEAD names another one.
"""

import fcntl
import functools
import json
import os
import subprocess
from pathlib import Path

import numpy as np

from program import Failure

FIELDS = (
    *("jaw", "wide", "round", "press", "upper", "lower", "tongue", "tuck"),
    *("smile", "blink_left", "blink_right", "gaze_x", "gaze_y", "brow"),
    *("yaw", "pitch", "roll", "head_x", "head_y", "breath"),
    *("view_x", "view_y", "view_half", "squint"),
)
JAW, WIDE, ROUND, PRESS, UPPER, LOWER, TONGUE, TUCK = range(8)
SMILE, BLINK_LEFT, BLINK_RIGHT, GAZE_X, GAZE_Y, BROW = range(8, 14)
YAW, PITCH, ROLL, HEAD_X, HEAD_Y, BREATH = range(14, 20)
VIEW_X, VIEW_Y, VIEW_HALF, SQUINT = range(20, 24)
COLUMN = {name: index for index, name in enumerate(FIELDS)}
MOUTH = slice(JAW, TUCK + 1)
VIEW = slice(VIEW_X, VIEW_HALF + 1)
REST_SMILE, REST_BROW = 0.35, 0.3  # a friendly listener
FPS = 25

SOURCES = Path(__file__).resolve().parents[1] / "render"
BUILD = Path(__file__).resolve().parents[3] / "build" / "render"


class RenderError(Failure):
    """render_head refused its arguments or could not be built; the message says why."""


def neutral(count, **fields):
    """float32 [count, len(FIELDS)]: the resting face, but for the `fields` given by name."""
    rows = np.zeros((count, len(FIELDS)), np.float32)
    rows[:, SMILE] = REST_SMILE
    rows[:, BROW] = REST_BROW
    for name, value in fields.items():
        rows[:, COLUMN[name]] = value
    return rows


@functools.cache
def program():
    """Path of render_head; builds it when sources changed since the last time."""
    given = os.environ.get("NAVTALK_RENDER_HEAD")
    if given:
        return given
    BUILD.mkdir(parents=True, exist_ok=True)
    with open(BUILD / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two programs may start at once
        _run("cmake", "-S", SOURCES, "-B", BUILD, "-DCMAKE_BUILD_TYPE=Release")
        _run("cmake", "--build", BUILD)
    return str(BUILD / "render_head")


def _run(*command):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if result.returncode:
        raise RenderError(f"building render_head: {result.stdout}{result.stderr}")


@functools.cache
def characters():
    """{name: {"full_view": (x, y, half), "face_view": (x, y, half)}}, views in the scene's units."""
    shown = subprocess.run([program(), "--describe"], capture_output=True, text=True, check=True)
    return json.loads(shown.stdout)["characters"]


def render(character, rows, size, view="full", threads=1):
    """Frames uint8 [N, size, size, 3] of rows [N, len(FIELDS)]; `size` is a multiple of 4.

    `view` ("full" or "face") counts for rows whose view_half is 0; others bring their own window.
    The same rows give the same pixels, whatever `threads`. Raises RenderError.
    """
    return np.concatenate(list(stream(character, rows, size, view, threads)) or [_empty(size)])


def stream(character, rows, size, view="full", threads=1, chunk=16):
    """The frames of render() in arrays of at most `chunk`, as they are made."""
    rows = check_rows(rows)
    command = [program(), "--character", character, "--size", str(size), "--view", view]
    for start in range(0, len(rows), chunk):
        part = rows[start : start + chunk]
        result = subprocess.run(
            [*command, "--threads", str(threads)], input=part.tobytes(), capture_output=True
        )
        if result.returncode:
            raise RenderError(result.stderr.decode().strip())
        yield np.frombuffer(result.stdout, np.uint8).reshape(len(part), size, size, 3)


def check_rows(rows):
    """`rows` as contiguous float32 [N, len(FIELDS)]; raises RenderError where they are not that."""
    rows = np.ascontiguousarray(rows, np.float32)
    if rows.ndim != 2 or rows.shape[1] != len(FIELDS):
        raise RenderError(f"rows have the shape {rows.shape}, not [N, {len(FIELDS)}]")
    bad = np.argwhere(~np.isfinite(rows))
    if len(bad):
        raise RenderError(f"row {bad[0][0]}: {FIELDS[bad[0][1]]} is not a number")
    return rows


def _empty(size):
    return np.zeros((0, size, size, 3), np.uint8)


def _character(name):
    known = characters()
    if name not in known:
        raise RenderError(f"no character '{name}'; there are {', '.join(known)}")
    return known[name]


def face_view(character):
    """(x, y, half): the window of the resting face, from the fringe to just below the chin."""
    return tuple(_character(character)["face_view"])


def face_box(character, size):
    """(x, y, width, height) in pixels of that window in a frame of the full view.

    The same for every frame of a clip: it comes from the resting chin, so that its height says
    nothing about the mouth.
    """
    x, y, half = _character(character)["full_view"]
    face_x, face_y, face_half = face_view(character)
    scale = size / (2 * half)
    side = round(2 * face_half * scale)
    left = (face_x - x + half) * scale - side / 2
    top = (y + half - face_y) * scale - side / 2
    return round(left), round(top), side, side


def idle_motion(seconds, seed, loop=True):
    """Rows [seconds * FPS, len(FIELDS)] of somebody who listens: sways, breathes, blinks, glances.

    With `loop`, the first row follows the last one as any row follows the one before it.
    """
    count = round(seconds * FPS)
    rng = np.random.default_rng(seed)
    rows = neutral(count)
    phase = np.arange(count) / count if loop else np.arange(count) / (FPS * 12.0)
    for column, size, cycles in SWAY:
        rows[:, column] += size * _waves(phase, cycles, rng)
    breaths = max(1, round(seconds / 4)) if loop else 3
    rows[:, BREATH] = 0.5 - 0.5 * np.cos(2 * np.pi * breaths * phase)
    rows[:, GAZE_X], rows[:, GAZE_Y] = _glances(count, rng)
    blink = _blinks(count, rng)
    rows[:, BLINK_LEFT] = rows[:, BLINK_RIGHT] = blink
    return rows


# Column, amplitude, and (cycles in the loop, weight) of its waves.
SWAY = (
    (YAW, 0.065, ((1, 1.0), (2, 0.6), (5, 0.15))),
    (PITCH, 0.028, ((1, 0.7), (3, 0.6), (6, 0.2))),
    (ROLL, 0.022, ((1, 0.8), (2, 0.6))),
    (HEAD_X, 0.012, ((1, 1.0), (2, 0.5))),
    (HEAD_Y, 0.006, ((2, 1.0), (3, 0.4))),
    (BROW, 0.18, ((1, 0.8), (3, 0.6))),
    (SMILE, 0.05, ((1, 1.0), (2, 0.5))),
)


def _waves(phase, cycles, rng):
    return sum(
        weight * np.sin(2 * np.pi * (count * phase + rng.uniform())) for count, weight in cycles
    )


BLINK = (0.35, 0.95, 1.0, 0.8, 0.45, 0.18, 0.05)  # frames at 25 a second


def _blinks(count, rng):
    blink = np.zeros(count, np.float32)
    at = int(rng.uniform(12, 40))
    while at < count - len(BLINK) - 4:
        blink[at : at + len(BLINK)] = BLINK
        at += int(rng.uniform(55, 110))
    return blink


def _glances(count, rng):
    """Eye contact, and now and then a look aside; small jumps as eyes make all the time."""
    gaze = np.zeros((2, count), np.float32)
    at = int(rng.uniform(15, 30))
    while at < count - 10:
        length = min(int(rng.uniform(14, 45)), count - 6 - at)
        aside = rng.uniform() < 0.3
        spread = (0.16, 0.07) if aside else (0.03, 0.02)
        gaze[:, at : at + length] = rng.normal(0, spread)[:, None]
        at += length + (0 if aside else int(rng.uniform(0, 25)))
    padded = np.pad(gaze, ((0, 0), (1, 1)), mode="wrap")
    return 0.25 * padded[:, :-2] + 0.5 * padded[:, 1:-1] + 0.25 * padded[:, 2:]
