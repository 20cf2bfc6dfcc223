"""Makes tools/demo importable, as its own programs see it."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools/demo"))
