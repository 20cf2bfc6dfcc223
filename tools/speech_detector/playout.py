"""What a live session makes of the detector's answers: server/worker/live/lips.cpp, at 25 pictures a second."""

import numpy as np

from features import HOP
from net import DELAY

BEGIN, END = 0.6, 0.3  # core/voice_activity/speech_detector.h
FIRST_COUNTED = 9  # of the answers since the net was as new: k_first_counted
FRAMES_A_SLOT, AHEAD_FRAMES, HANGOVER_FRAMES = 4, 8, 32
LOUD_DB = -45.0  # the threshold of loudness that stood there before
SILENT_DB, SILENT_FRAMES = -75.0, 50  # after so much near silence the net is as new: core/voice_activity/speech_detector.cpp


def heard_parts(power_db: np.ndarray) -> list[tuple[int, int]]:
    """(begin, end) of the frames that the net hears, from the power of each [T]: at each beginning it is as new."""
    quiet = power_db < SILENT_DB
    run = np.zeros(len(quiet), int)
    for frame in np.flatnonzero(quiet):
        run[frame] = run[frame - 1] + 1 if frame else 1
    heard = run < SILENT_FRAMES
    edges = np.flatnonzero(np.diff(np.concatenate([[False], heard, [False]]).astype(int)))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist()))


def speech_frames(likelihood: np.ndarray, begin: float = BEGIN, end: float = END) -> np.ndarray:
    """[T] bool: which answers are speech, with hysteresis."""
    speaks, found = False, np.zeros(len(likelihood), bool)
    for frame, value in enumerate(likelihood):
        speaks = value >= (end if speaks else begin)
        found[frame] = speaks
    return found


def speaking_slots(answers: np.ndarray) -> np.ndarray:
    """[T // 4] bool: in which slots the lips follow the sound, from the answers [T] bool in their order."""
    slots = len(answers) // FRAMES_A_SLOT
    latest = np.where(answers, np.arange(len(answers)) + 1 - DELAY, -10**6)
    latest = np.maximum.accumulate(latest)
    begins = np.arange(slots) * FRAMES_A_SLOT
    known = np.minimum(begins + FRAMES_A_SLOT + AHEAD_FRAMES, len(answers)) - 1
    return begins <= latest[known] + HANGOVER_FRAMES


def loud_slots(samples: np.ndarray) -> np.ndarray:
    """The same of the threshold, for comparison, from a sound [T * HOP]: loud in the slot itself or in the 80 ms after it."""
    powers = np.square(samples[: len(samples) // HOP * HOP].astype(np.float64)).reshape(-1, HOP).mean(axis=1)
    least, slots = 10 ** (LOUD_DB / 10), len(powers) // FRAMES_A_SLOT
    moving, until = np.zeros(slots, bool), -1
    for slot in range(slots):
        end = (slot + 1) * FRAMES_A_SLOT
        own, ahead = powers[end - FRAMES_A_SLOT : end], powers[end : end + AHEAD_FRAMES]
        if own.mean() > least or (len(ahead) and ahead.mean() > least):
            until = slot + HANGOVER_FRAMES // FRAMES_A_SLOT
        moving[slot] = slot <= until
    return moving
