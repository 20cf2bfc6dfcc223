"""usage: page_test.py NAVTALK   the page in headless Chromium: a session by text, microphone and file, interrupted and ended"""

import pathlib
import subprocess
import sys

from needs_selenium import needs

needs("chromium", "chromedriver")

from chromium import chromium  # noqa: E402
from page import Page  # noqa: E402
from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from serve import Serve  # noqa: E402

OPEN, CLOSED = 0.045, 0.03  # share of the mouth's place that is dark or teeth; measured: 0.05 to 0.15, and below 0.02
SENTENCE = "Hello there. I am Ada, and my mouth moves, oh so wide, with every word of mine."


def check(holds, what):
    if not holds:
        raise AssertionError(what)


def speak_to(file):
    subprocess.run(["espeak-ng", "-w", str(file), "One two three four five six seven. Eight nine ten."], check=True)


def mouth(pictures):
    return max(one["open"] for one in pictures)


def wait_rest(page):
    """Until the avatar is silent and its mouth at rest, for a second."""
    page.watch()
    page.wait("the mouth rests", lambda: len(page.seen()) >= 25 and mouth(page.seen()[-25:]) < CLOSED and not page.speaks())
    page.stop_watching()


def rests_and_moves(page):
    page.watch()
    page.wait("pictures change while nothing is said", lambda: sum(one["changed"] > 0.001 for one in page.seen()) > 5)
    rest = page.stop_watching()[5:]
    check(mouth(rest) < CLOSED, f"the mouth is open in silence: {mouth(rest)}")


def speaks_text(page):
    page.watch()
    page.say(SENTENCE)
    page.wait("the avatar speaks", page.speaks)
    check(page.text("#subtitle") == SENTENCE, "the sentence is not shown while it is spoken")
    page.wait("the sentence is said", lambda: page.states() == ["said"])
    spoken = [one for one in page.stop_watching() if one["speaks"]]
    check(mouth(spoken) > OPEN, f"the mouth does not open while the avatar speaks: {mouth(spoken)}")
    wait_rest(page)


def is_interrupted(page):
    page.say(SENTENCE + " " + SENTENCE + " " + SENTENCE)
    page.wait("the avatar speaks", page.speaks)
    page.find("#text").send_keys(Keys.ESCAPE)
    page.wait("the caption says so", lambda: page.states()[-1] == "stopped")
    wait_rest(page)


def hears_microphone(page):
    ActionChains(page.driver).click_and_hold(page.find("#mic")).perform()
    page.wait("the level moves", lambda: page.run("return document.getElementById('level').value") > 0.2)
    page.watch()
    page.wait("the avatar speaks", page.spoke)
    page.wait("its mouth opens", lambda: mouth(page.seen()) > OPEN)
    page.stop_watching()
    page.wait("latency is measured", lambda: page.figures()["Latency"] != "–")
    check(page.find("#device-label").is_displayed(), "the devices are not offered")
    ActionChains(page.driver).release().perform()
    page.wait("the utterance is over", lambda: page.states()[-1] == "said")
    print("microphone:", page.figures())


def takes_file(page, file):
    page.find("#file").send_keys(str(file))
    page.wait("the avatar speaks", page.speaks)
    page.wait("the file is said", lambda: page.states()[-1] == "said")


def is_usable_without_a_mouse(page):
    page.run("document.activeElement.blur()")
    body = page.find("body")
    body.send_keys("/")
    check(page.run("return document.activeElement.id") == "text", "the key / does not lead to the text")
    unnamed = page.run(
        "return [...document.querySelectorAll('button, input, textarea, select')]"
        ".filter((one) => one.checkVisibility() && !(one.labels?.length || one.ariaLabel || one.innerText.trim()))"
        ".map((one) => one.outerHTML)"
    )
    check(not unnamed, f"elements without a name for screen readers: {unnamed}")


def fits_a_phone(page):
    size = page.driver.get_window_size()
    page.driver.set_window_size(390, 844)
    page.figures()
    page.say(" ".join([SENTENCE] * 6))
    page.wait("the avatar speaks", page.speaks)
    share = "const high = (id) => document.getElementById(id).clientHeight; return high('subtitle') / high('stage')"
    check(0.05 < page.run(share) < 0.2, f"the subtitle takes {page.run(share):.2f} of the picture")
    page.run("const one = document.getElementById('status'); one.hidden = false; one.textContent = 'Live, 15 fps'")
    lines = page.run("const one = document.getElementById('status'); return one.clientHeight / parseFloat(getComputedStyle(one).fontSize)")
    check(lines < 2, f"the state takes {lines:.1f} times the size of its letters")
    wider = page.run(
        "return ['.statistics', '.bar', '.panel', 'html'].filter((one) => {"
        "const box = document.querySelector(one); return box.scrollWidth > box.clientWidth; })"
    )
    check(not wider, f"wider than their place on a phone: {wider}")
    page.find("#text").send_keys(Keys.ESCAPE)
    page.wait("the caption says so", lambda: page.states()[-1] == "stopped")
    page.driver.set_window_size(size["width"], size["height"])


def main():
    serve = Serve(sys.argv[1])
    speech = pathlib.Path(serve.folder) / "speech.wav"
    speak_to(speech)
    driver = chromium(speech)
    try:
        page = Page(driver, serve.url)
        page.wait("both avatars are offered", lambda: len(page.all(".card[data-avatar]")) == 2)
        moving = "return [...document.querySelectorAll('.card video')].filter((one) => one.currentTime > 0).length"
        page.wait("their previews move", lambda: page.run(moving) == 2)
        serve.wait_worker()
        page.choose("ada")
        page.wait_live()
        rests_and_moves(page)
        speaks_text(page)
        is_interrupted(page)
        hears_microphone(page)
        takes_file(page, speech)
        is_usable_without_a_mouse(page)
        fits_a_phone(page)
        print("at the end:", page.figures())
        page.find("#leave").click()
        page.wait("the gallery is back", lambda: page.find("#gallery").is_displayed())
        serve.wait_worker()
        check(page.problems() == [], f"the console has errors: {page.problems()}")
    finally:
        driver.quit()
        serve.close()


main()
