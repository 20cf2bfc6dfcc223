"""usage: actions_test.py NAVTALK   the page in headless Chromium: an avatar with an action, which a button plays"""

import pathlib
import subprocess
import sys
import tempfile

from needs_selenium import needs

needs("chromium", "chromedriver")

from chromium import chromium  # noqa: E402
from page import PATIENCE_S, Page  # noqa: E402
from serve import Serve  # noqa: E402

DEMO = pathlib.Path(__file__).resolve().parents[2] / "assets/demo/avatars"
# What the canvas shows, as 8 by 8 colours.
COLOURS = """
const small = new OffscreenCanvas(8, 8), context = small.getContext("2d");
context.drawImage(document.getElementById("canvas"), 0, 0, 8, 8);
return [...context.getImageData(0, 0, 8, 8).data];
"""


def prepare(navtalk, output):
    """Ada, and an action in which somebody else is seen, so that a picture tells which clip it is of."""
    clip = {name: DEMO / name / "frames.mp4" for name in ("ada", "theo")}
    command = [navtalk, "avatar", "prepare", "--video", clip["ada"], "--loop", "--action", f"be-theo={clip['theo']}"]
    subprocess.run([*command, "--face-box", "180,150,330,330", "-o", output], check=True, timeout=4 * PATIENCE_S)


# The times of the gallery's preview of an avatar, from half a second before its part ends, and that part.
PREVIEW = """
(async (id, done) => {
  const times = [];
  const video = document.querySelector(`[data-avatar=${id}] video`);
  const part = (await (await fetch("/v1/avatars")).json()).avatars.find((one) => one.id === id).preview_part;
  video.currentTime = part[1] - 0.5;
  const timer = setInterval(() => times.push(video.currentTime), 10);
  setTimeout(() => { clearInterval(timer); done({ part, times, whole: video.duration }); }, 3000);
})(...arguments);
"""


def check_preview(page):
    """The gallery shows the avatar's first clip, and goes back to its start where the action would begin."""
    page.wait("the previews are there", lambda: page.run("return document.querySelector('[data-avatar=both] video')?.readyState >= 3"))
    seen = page.driver.execute_async_script(PREVIEW, "both")
    first, end = seen["part"]
    assert first == 0 and end < seen["whole"] - 1, seen
    assert max(seen["times"]) < end and min(seen["times"]) < 1, seen


def difference(one, other):
    return sum(abs(a - b) for a, b in zip(one, other)) / len(one)


def main():
    with tempfile.TemporaryDirectory() as folder:
        prepare(sys.argv[1], pathlib.Path(folder) / "both")
        serve = Serve(sys.argv[1], avatars=folder)
        driver = chromium()
        try:
            serve.wait_worker()
            page = Page(driver, serve.url)
            check_preview(page)
            page.choose("both")
            page.wait_live()
            page.wait("a picture is there", lambda: max(page.run(COLOURS)) > 0)
            page.wait("the page offers the action", lambda: [one.text for one in page.all("#actions button")] == ["Be theo"])
            ada = page.run(COLOURS)
            theo = 8  # levels: the two differ by more, and Ada from herself by less
            page.find("#actions button").click()
            page.wait("the action is seen", lambda: difference(page.run(COLOURS), ada) > theo)
            page.wait("the button says so", lambda: page.all("#actions button[data-seen]"))
            page.say("I speak meanwhile.")
            page.wait("the avatar speaks", page.speaks)
            page.wait("the action is over", lambda: not page.all("#actions button[data-seen]"))
            page.wait("Ada is seen again", lambda: difference(page.run(COLOURS), ada) < theo / 2)
            page.find("#leave").click()
            page.choose("ada")
            page.wait_live()
            if page.find("#actions").is_displayed():
                raise AssertionError("an avatar without actions has a row of buttons")
            if page.problems():
                raise AssertionError(f"the console has errors: {page.problems()}")
        finally:
            driver.quit()
            serve.close()


main()
