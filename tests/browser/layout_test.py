"""usage: layout_test.py CLIENT_FOLDER [SCREENSHOTS]   the panel of a session at the sizes of common windows, with everything open

SCREENSHOTS: a folder for a picture of each.
"""

import pathlib
import sys

from needs_selenium import needs

needs("chromium", "chromedriver")

from faked_page import DISCONTINUITY, KEY, PICTURE, READY, check, faked_page  # noqa: E402

SIZES = [(390, 844), (820, 1180), (1024, 700), (1280, 720), (1366, 768), (1440, 900)]

# Of each part of the panel, what of it can be reached within the card and the window, with their scrolling.
REACHED = """
const panel = document.querySelector(".panel");
return [...panel.children].filter((one) => one.offsetHeight > 0).map((one) => {
  one.scrollIntoView({ block: "end" });
  const card = panel.getBoundingClientRect(), part = one.getBoundingClientRect();
  const name = one.id || one.className;
  return { name, bottom: part.bottom, card: card.bottom, window: innerHeight, left: part.left - card.left, right: card.right - part.right };
});
"""


def size(page, width, height):
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})


def shows_face_and_fields_together(page):
    """On a phone, without statistics."""
    for height in (844, 800):
        size(page, 390, height)
        fits_a_phone(page, height)


def fits_a_phone(page, height):
    page.run("scrollTo(0, 0)")
    where = page.run("return ['stage', 'composer', 'mic'].map((id) => { const box = document.getElementById(id).getBoundingClientRect();"
                     "return [box.top, box.bottom]; })")
    check(where[0][0] >= 0 and all(bottom <= height for _, bottom in where), f"top and bottom of picture, text and microphone, of {height}: {where}")
    high = page.run("return document.querySelector('.modes').getBoundingClientRect().height")
    check(high >= 40, f"the switch has {high} pixels")


def opens_everything(page):
    page.run("document.getElementById('statistics-button').click()")
    page.run("document.querySelector('input[name=mode][value=open]').click()")
    page.find("#mic").click()
    page.wait("the microphone is open", lambda: page.text("#mic-label") == "Stop talking" and page.find("#device-label").is_displayed())


def fits(page, width, height):
    size(page, width, height)
    for part in page.run(REACHED):
        where = f"{width}x{height}: {part}"
        check(part["bottom"] <= part["card"] and part["bottom"] <= part["window"] + 0.5, f"it ends below its card: {where}")
        check(part["left"] >= 0 and part["right"] >= 0, f"it is wider than its card: {where}")
    log = page.run("return document.getElementById('log').clientHeight")
    check(log >= 56, f"{width}x{height}: the log has {log} pixels")
    if width > 960:
        check(page.run("const one = document.querySelector('.panel'); return one.scrollHeight <= one.clientHeight"),
              f"{width}x{height}: the panel has to be scrolled")
    check(page.run("return document.documentElement.scrollWidth <= innerWidth"), f"{width}x{height}: the page is wider than its window")


def main():
    with faked_page(pathlib.Path(sys.argv[1])) as page:
        page.choose("ada")
        page.connected(1)
        page.tell(READY)
        page.media(PICTURE, KEY | DISCONTINUITY)
        page.say("Good morning. The weather is fine today.")
        shows_face_and_fields_together(page)
        opens_everything(page)
        for theme in ("light", "dark"):
            page.run("document.documentElement.dataset.theme = arguments[0]", theme)
            for width, height in SIZES:
                fits(page, width, height)
                if len(sys.argv) > 2:
                    page.run("scrollTo(0, 0); document.querySelector('.panel').scrollTop = 0")
                    page.driver.save_screenshot(f"{sys.argv[2]}/{width}x{height}-{theme}.png")
        check(page.problems() == [], f"the console has errors: {page.problems()}")


main()
