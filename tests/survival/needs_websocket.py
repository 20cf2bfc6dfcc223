"""Makes sure that `import websocket` works; else the program starts anew under Debian's Python, or says that it is skipped."""

import os
import pathlib
import sys

try:
    import websocket  # noqa: F401
except ModuleNotFoundError:
    # Another Python than Debian's may stand first in PATH; the module comes with a Debian package.
    if sys.executable != "/usr/bin/python3" and pathlib.Path("/usr/bin/python3").exists():
        os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])
    print("skipped: python3-websocket is not installed")
    sys.exit(0)
