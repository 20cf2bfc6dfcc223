"""usage: choices_test.py CLIENT_FOLDER   avatar, volume and full screen of a session, by keyboard too, with a gateway that is faked
"""

import pathlib
import sys

from faked import KEY, PICTURE, READY, begins, check, faked_page
from selenium.webdriver.common.keys import Keys  # isort: skip

GAIN = "return window.gains.at(-1)"


def named(page, element):
    """What a screen reader calls it."""
    return page.run("const one = document.getElementById(arguments[0]); return one.getAttribute('aria-label') ?? one.labels[0].querySelector('.unseen').textContent", element)


def changes_the_avatar(page):
    """The session ends, the next one begins in the same view, and the log stays."""
    page.say("Never spoken.")
    check(named(page, "avatar-choice") == "Avatar", named(page, "avatar-choice"))
    page.find("#avatar-choice").send_keys(Keys.ARROW_DOWN)
    page.connected(2)
    check(page.run("return fakes.sockets.at(-2).sent.at(-1).type") == "session.end", "the session of before goes on")
    check(page.run("return fakes.sockets.at(-1).sent[0].avatar") == "theo", "it is another one")
    check(page.find("#session").is_displayed() and page.text("#name") == "Theo", page.text("#name"))
    check(set(page.states()) == {"lost"}, f"{page.states()}")
    page.tell({**READY, "avatar": "theo"})
    page.media(PICTURE, KEY)
    page.wait("the session is live", lambda: page.text("#status") == "Live")
    check(page.run("return document.activeElement.id") == "avatar-choice", "the focus went elsewhere")


def sets_the_volume(page):
    page.run("window.gains = []; const set = AudioParam.prototype.setTargetAtTime;"
             "AudioParam.prototype.setTargetAtTime = function (value, ...more) { gains.push(value); return set.call(this, value, ...more); }")
    slider = page.find("#volume")
    check(named(page, "volume") == "Volume of the avatar", named(page, "volume"))
    slider.send_keys(Keys.ARROW_LEFT * 4)
    check(abs(page.run(GAIN) - 0.8) < 1e-6, f"{page.run(GAIN)}")
    page.find("#mute").click()
    check(page.run(GAIN) == 0 and page.find("#mute").get_attribute("aria-pressed") == "true", f"{page.run(GAIN)}")
    page.find("body").send_keys("m")
    check(abs(page.run(GAIN) - 0.8) < 1e-6, f"the volume of before is gone: {page.run(GAIN)}")
    slider.send_keys(Keys.HOME)
    check(page.run(GAIN) == 0 and page.find("#mute").get_attribute("aria-pressed") == "true", "it is silent, and not shown so")
    page.find("#mute").click()
    check(page.run(GAIN) == 1, f"{page.run(GAIN)}")


def fills_the_screen(page):
    full = "return document.fullscreenElement?.id ?? null"
    check(named(page, "full-screen") == "Full screen", named(page, "full-screen"))
    page.find("#full-screen").click()
    page.wait("the avatar fills the screen", lambda: page.run(full) == "stage")
    box = page.run("const box = document.getElementById('stage').getBoundingClientRect(); return [box.width, box.height, innerWidth, innerHeight]")
    check(box[:2] == box[2:], f"the stage and the screen: {box}")
    for part in ("#canvas", "#interrupt", "#volume"):
        check(page.find(part).is_displayed(), f"{part} is not seen")
    page.find("body").send_keys("f")
    page.wait("the page is back", lambda: page.run(full) is None)
    check(page.find("#full-screen").get_attribute("aria-pressed") == "false", "the button says it fills the screen")


def main():
    with faked_page(pathlib.Path(sys.argv[1])) as page:
        begins(page)
        changes_the_avatar(page)
        sets_the_volume(page)
        fills_the_screen(page)
        check(page.problems() == [], f"the console has errors: {page.problems()}")


main()
