#!/usr/bin/env python3
"""preview_test.py PAGE_FOLDER: a preview shows its part again and again, and nothing else, in headless Chromium.

The clip has two seconds of red, two of green and one of blue. Skipped where Chromium is missing.
"""

import collections
import functools
import http.server
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time

from needs_selenium import needs

needs("chromium", "chromedriver")
from chromium import chromium  # noqa: E402

PAGE = """<!doctype html><video id="video" muted autoplay playsinline></video><script type="module">
import { showPreview } from "./preview_video.js";
const video = document.getElementById("video"), canvas = document.createElement("canvas");
canvas.width = canvas.height = 8;
const context = canvas.getContext("2d", { willReadFrequently: true }), query = new URLSearchParams(location.search);
window.seen = [];
if (query.has("old")) video.requestVideoFrameCallback = undefined;
const clip = await (await fetch("clip.mp4")).blob(); // Python's server has no ranges, without which nothing can be sought
showPreview(video, URL.createObjectURL(clip), JSON.parse(query.get("part")));
const look = () => {
  if (video.readyState >= 2 && !video.paused && !video.seeking) {
    context.drawImage(video, 0, 0, 8, 8);
    const [r, g, b] = context.getImageData(4, 4, 1, 1).data;
    window.seen.push([video.currentTime, r > 128 ? "red" : g > 128 ? "green" : b > 128 ? "blue" : "dark"]);
  }
  requestAnimationFrame(look);
};
look();
</script>"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def colours(browser, url, seconds):
    """How often each colour was seen, how often the time went back, and how many pictures there were."""
    browser.get(url)
    time.sleep(seconds)
    seen = browser.execute_script("return window.seen")
    times = [at for at, _ in seen]
    back = sum(later < earlier - 0.5 for earlier, later in zip(times, times[1:]))
    return collections.Counter(colour for _, colour in seen), back, len(seen)


def main():
    page_folder = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        shutil.copy(page_folder / "preview_video.js", folder)
        (folder / "index.html").write_text(PAGE)
        sources = [("red", 2), ("lime", 2), ("blue", 1)]
        inputs = [word for colour, length in sources for word in ("-f", "lavfi", "-i", f"color={colour}:s=64x64:d={length}:r=25")]
        subprocess.run(["ffmpeg", "-v", "error", *inputs, "-filter_complex", "[0][1][2]concat=n=3", "-pix_fmt", "yuv420p",
                        "-g", "10", folder / "clip.mp4"], check=True)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/index.html?part="
        browser = chromium()
        try:
            for part, old, expected in [("[2,4]", "", {"green"}), ("[0,2]", "", {"red"}), ("[4,5]", "", {"blue"}),
                                        ("[2,4]", "&old", {"green"}), ("null", "", {"red", "green", "blue"})]:
                seen, back, count = colours(browser, url + part + old, 7)
                print(f"part {part}{old}: {dict(seen)} in {count} pictures, began again {back} times")
                # A timer that a busy machine calls late lets a picture or two of the next part be seen.
                strange = sum(number for colour, number in seen.items() if colour not in expected)
                assert strange <= (count // 50 if old else 0), (part, old)
                assert expected <= set(seen) and back >= 1 and count > 50, (part, old)
        finally:
            browser.quit()
            server.shutdown()


main()
