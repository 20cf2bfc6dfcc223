"""Waiting for what a program under test does in its own time."""

import time

PATIENCE_S = 120


def eventually(holds, what):
    """What holds() returned, once it was true."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        found = holds()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError(f"never: {what}")
