"""usage: demo_tools_test.py   tests tools/demo in the Python environment of scripts/python-env, else skips"""

import os
import pathlib

import tools_path  # noqa: F401
from program import PYTHON

HERE = pathlib.Path(__file__).resolve().parent


def main():
    if not PYTHON.exists():
        print(f"skipped: {PYTHON} is not there; scripts/python-env makes it")
        return
    # Tests run side by side: one thread each, and no GPU.
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    os.execve(PYTHON, [PYTHON, "-m", "unittest", "discover", "-s", HERE, "-p", "test_*.py"], environment)


main()
