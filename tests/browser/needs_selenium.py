"""Makes sure that selenium, websocket and a browser are there; else the program starts anew under Debian's Python, or says that it
is skipped.
"""

import os
import pathlib
import shutil
import sys


def needs(browser, driver):
    for program in (browser, driver):
        if not shutil.which(program):
            print(f"skipped: {program} is not installed")
            sys.exit(0)
    try:
        import selenium  # noqa: F401
        import websocket  # noqa: F401
    except ModuleNotFoundError:
        # Another Python than Debian's may stand first in PATH; the modules come with Debian packages.
        if sys.executable != "/usr/bin/python3" and pathlib.Path("/usr/bin/python3").exists():
            os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])
        print("skipped: python3-selenium and python3-websocket are not installed")
        sys.exit(0)
