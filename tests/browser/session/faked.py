"""What the tests of this folder import from the one above."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from needs_selenium import needs  # noqa: E402

needs("chromium", "chromedriver")

from faked_page import DISCONTINUITY, KEY, PICTURE, READY, SOUND, check, faked_page  # noqa: E402

__all__ = ["DISCONTINUITY", "KEY", "PICTURE", "READY", "SOUND", "begins", "check", "faked_page"]


def begins(page, sockets=1):
    page.choose("ada")
    page.connected(sockets)
    page.tell(READY)
    page.media(PICTURE, KEY | DISCONTINUITY)
    page.wait("the session is live", lambda: page.text("#status") == "Live")
