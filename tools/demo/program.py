"""What the programs of tools/demo share: their Python environment, and how they refuse.

    import program
    program.enter_environment()  # before anything that needs numpy

A program that is run where packages are missing runs itself again in the environment of
scripts/python-env; a module that is imported from there finds itself in it already.
"""

import argparse
import contextlib
import importlib.util
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

CACHE = Path(os.environ.get("NAVTALK_CACHE") or Path.home() / ".cache/navtalk")
PYTHON = CACHE / "python/bin/python"
PACKAGES = "numpy scipy torch diffusers transformers safetensors cv2 PIL soundfile soxr".split()
INTERRUPTED = 130  # exit status after Ctrl-C, as shells have it


class Failure(Exception):
    """What went wrong and what to do, for the user, in one line."""


def enter_environment() -> None:
    """Goes on in the environment of scripts/python-env; another one with all packages will do.

    SystemExit with one line where there is neither.
    """
    inside = Path(sys.prefix).resolve() == PYTHON.parents[1].resolve()
    if PYTHON.exists() and not inside:
        os.execv(PYTHON, [str(PYTHON), *sys.argv])
    missing = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        name = Path(sys.argv[0]).name
        raise SystemExit(f"{name}: the Python package {missing[0]} is missing: run scripts/python-env")


def writable_folder(path: Path) -> Path:
    """`path`, which is there afterwards; OSError or Failure where it cannot be, or not be written to."""
    path.mkdir(parents=True, exist_ok=True)
    if not os.access(path, os.W_OK):
        raise Failure(f"{path} cannot be written to: choose another folder")
    return path


def find_navtalk(navtalk: Path) -> str:
    """The navtalk to call; Failure where it is not there."""
    found = shutil.which(navtalk)
    if found is None:
        raise Failure(
            f"{navtalk} is missing: build it (cmake --preset cpu && cmake --build --preset cpu --target "
            "navtalk), name another with --navtalk, or name stages that do without"
        )
    return found


@contextlib.contextmanager
def errors_in_one_line(name: str) -> Iterator[None]:
    """Failures, and what the system refuses, as "NAME: what" and exit status 1."""
    try:
        yield
    except KeyboardInterrupt:
        print(f"\n{name}: interrupted; the same command goes on from here", file=sys.stderr)
        raise SystemExit(INTERRUPTED) from None
    except Failure as failure:
        raise SystemExit(f"{name}: {failure}") from failure
    except OSError as error:
        about = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        raise SystemExit(f"{name}: {about}") from error


def count(text: str) -> int:
    """An option's whole number from 1 on, for argparse."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text}: must be a whole number from 1 on")
    return int(text)


def seconds(text: str) -> float:
    """An option's length of time, for argparse."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 3600:
        raise argparse.ArgumentTypeError(f"{text}: must be more than 0 and less than 3600 seconds")
    return value
