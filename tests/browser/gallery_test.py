"""usage: gallery_test.py CLIENT_FOLDER   the gallery of a gateway with keys and many avatars, in headless Chromium: its cards are there
before their previews, and only those in view are fetched and kept
"""

import contextlib
import functools
import http.server
import json
import pathlib
import subprocess
import sys
import tempfile
import threading

from needs_selenium import needs

needs("chromium", "chromedriver")

from chromium import chromium  # noqa: E402
from faked_page import ADA, check  # noqa: E402
from page import PATIENCE_S, Page  # noqa: E402

KEY = "a-key-of-these-tests"
AVATARS = 60
MOST_AT_ONCE = 3

# The URLs of what is held in memory.
HELD = """
window.held = new Set();
const make = URL.createObjectURL, free = URL.revokeObjectURL;
URL.createObjectURL = (blob) => { const url = make.call(URL, blob); held.add(url); return url; };
URL.revokeObjectURL = (url) => { held.delete(url); free.call(URL, url); };
"""
PLAYING = "return [...document.querySelectorAll('.card video')].filter((one) => one.videoWidth > 0).map((one) => one.closest('.card').dataset.avatar)"


class Gateway(http.server.SimpleHTTPRequestHandler):
    """Previews wait for `open`."""

    open = threading.Event()
    lock = threading.Lock()
    asked, now, most = set(), 0, 0  # previews: their names; how many are asked for, now and at most
    clip = b""

    def do_GET(self):
        if not self.path.startswith("/v1/"):
            self.path = self.path.removeprefix("/client")
            return super().do_GET()
        if self.headers.get("Authorization") != f"Bearer {KEY}":
            return self.answer(401, "application/json", b'{"error":{"code":"unauthorised","message":"a key is needed"}}')
        if self.path == "/v1/avatars":
            all = [{**ADA, "id": f"a{n}", "preview": f"/v1/avatars/a{n}/preview"} for n in range(AVATARS)]
            return self.answer(200, "application/json", json.dumps({"avatars": all}).encode())
        with self.lock:
            Gateway.asked.add(self.path.split("/")[3])
            Gateway.now += 1
            Gateway.most = max(self.most, self.now)
        self.open.wait(PATIENCE_S)
        with self.lock:
            Gateway.now -= 1
        if self.path == "/v1/avatars/a1/preview":
            return self.answer(404, "application/json", b'{"error":{"code":"not_found","message":"it is gone"}}')
        with contextlib.suppress(ConnectionError):  # a card that has left the view
            self.answer(200, "video/mp4", self.clip)

    def answer(self, status, kind, body):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def clip():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "clip.mp4"
        subprocess.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc=s=64x64:d=1:r=25", "-pix_fmt", "yuv420p", path], check=True)
        return path.read_bytes()


def shows_cards_before_their_previews(page):
    page.wait("the key is asked for", lambda: page.all("#key"))
    page.find("#key").send_keys(KEY + "\n")
    page.wait("the cards are there", lambda: len(page.all(".card[data-avatar]")) == AVATARS)
    check(page.run("return document.activeElement.dataset.avatar") == "a0", "the focus is not at the first card")
    page.wait("previews are asked for", lambda: Gateway.now == MOST_AT_ONCE)
    Gateway.open.set()


def fetches_what_is_in_view(page):
    page.wait("the first previews play", lambda: "a0" in page.run(PLAYING))
    page.wait("all that are in view were fetched", lambda: Gateway.now == 0 and len(page.run(PLAYING)) == len(Gateway.asked) - 1 >= 3)
    check(page.text(".card[data-avatar=a1] .letter").lower() == "a", "a card whose preview is gone shows no letter")
    check(Gateway.most <= MOST_AT_ONCE, f"{Gateway.most} previews were asked for at once")
    check(len(Gateway.asked) < AVATARS / 2 and f"a{AVATARS - 1}" not in Gateway.asked, f"asked for: {sorted(Gateway.asked)}")


def frees_what_has_left_the_view(page):
    page.run("scrollTo(0, document.documentElement.scrollHeight)")
    last = f"a{AVATARS - 1}"
    page.wait("the last preview plays", lambda: last in page.run(PLAYING))
    page.wait("the first ones are dropped", lambda: "a0" not in page.run(PLAYING) and page.run("return held.size") == len(page.run(PLAYING)))
    page.run("scrollTo(0, 0)")
    page.wait("the first one is back", lambda: "a0" in page.run(PLAYING))


def main():
    Gateway.clip = clip()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Gateway, directory=pathlib.Path(sys.argv[1])))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    driver = chromium()
    try:
        driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": HELD})
        page = Page(driver, f"http://127.0.0.1:{server.server_port}")
        shows_cards_before_their_previews(page)
        fetches_what_is_in_view(page)
        frees_what_has_left_the_view(page)
        refused = [one for one in page.problems() if "401" not in one and "404" not in one]
        check(not refused, f"the console has errors: {refused}")
    finally:
        Gateway.open.set()
        driver.quit()
        server.shutdown()


main()
