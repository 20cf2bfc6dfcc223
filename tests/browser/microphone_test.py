"""usage: microphone_test.py CLIENT_FOLDER   the page in headless Chromium, with a faked gateway: the microphone sends only while it is
held, wherever the focus goes meanwhile
"""

import pathlib
import sys

from needs_selenium import needs

needs("chromium", "chromedriver")

from faked_page import READY, check, faked_page  # noqa: E402
from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402


def keys(page):
    return ActionChains(page.driver)


def holds_space(page):
    """On the document, until sound goes out."""
    page.run("document.activeElement.blur()")
    before = page.sent_sound()
    keys(page).key_down(Keys.SPACE).perform()
    page.wait("the microphone sends", lambda: page.text("#mic-label") == "Release to stop" and page.sent_sound() > before)


def is_silent(page, after):
    """What the microphone hears comes 50 times a second; the utterance that was ended is the last that was sent."""
    check(page.text("#mic-label") == "Hold to talk", f"after {after} the button says: {page.text('#mic-label')}")
    heard = "const [done] = arguments; const from = fakes.levels; const timer = setInterval(() => {" \
            " if (fakes.levels < from + 10) return; clearInterval(timer); done(fakes.sockets.at(-1).sent.at(-1).type); }, 10)"
    last = page.driver.execute_async_script(heard)
    check(last == "input.end", f"after {after} the microphone sends still: {last}")


def release_in_a_field(page):
    holds_space(page)
    keys(page).send_keys("/").perform()
    check(page.run("return document.activeElement.id") == "text", "the key / does not lead to the text")
    is_silent(page, "the focus went into the text")
    keys(page).key_down(Keys.SPACE).perform()  # it repeats while it is held
    keys(page).key_up(Keys.SPACE).perform()
    is_silent(page, "the space bar was released in the text")
    check(page.run("return document.getElementById('text').value") == "", "the held space bar wrote into the text")


def release_on_a_button(page):
    holds_space(page)
    page.run("document.getElementById('leave').focus()")
    keys(page).key_up(Keys.SPACE).perform()
    is_silent(page, "the space bar was released on a button")
    check(page.find("#session").is_displayed(), "the space bar that was held has pressed the button")


def leave_the_held_button(page):
    page.run("document.getElementById('mic').focus()")
    keys(page).key_down(Keys.SPACE).perform()
    page.wait("the microphone sends", lambda: page.text("#mic-label") == "Release to stop")
    keys(page).send_keys("/").perform()
    is_silent(page, "the focus left the button that the space bar held")
    keys(page).key_up(Keys.SPACE).perform()


def lose_the_window(page):
    holds_space(page)
    page.run("window.dispatchEvent(new Event('blur'))")
    is_silent(page, "another window has the focus")
    keys(page).key_up(Keys.SPACE).perform()
    holds_space(page)
    page.run("Object.defineProperty(document, 'hidden', { value: true, configurable: true });"
             "document.dispatchEvent(new Event('visibilitychange')); delete document.hidden")
    is_silent(page, "another tab is shown")
    keys(page).key_up(Keys.SPACE).perform()


def lose_the_connection(page):
    holds_space(page)
    page.run("fakes.sockets.at(-1).cut()")
    page.connected(2)
    page.tell(READY)
    page.wait("the session goes on", lambda: page.text("#status") == "Live")
    check(page.text("#mic-label") == "Hold to talk", f"in the session that goes on the button says: {page.text('#mic-label')}")
    keys(page).key_up(Keys.SPACE).perform()


def main():
    with faked_page(pathlib.Path(sys.argv[1])) as page:
        page.choose("ada")
        page.connected(1)
        page.tell(READY)
        page.wait("the session is live", lambda: page.text("#status") == "Live")
        holds_space(page)
        keys(page).key_up(Keys.SPACE).perform()
        is_silent(page, "the space bar was released")
        release_in_a_field(page)
        release_on_a_button(page)
        leave_the_held_button(page)
        lose_the_window(page)
        lose_the_connection(page)
        check(page.problems() == [], f"the console has errors: {page.problems()}")


main()
