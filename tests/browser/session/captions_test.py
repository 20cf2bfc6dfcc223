"""usage: captions_test.py CLIENT_FOLDER   the log and the subtitle tell what is spoken, with a gateway that is faked"""

import pathlib
import sys
import time

from faked import begins, check, faked_page

from selenium.webdriver.common.keys import Keys  # isort: skip

STARTED, ENDED, INTERRUPTED = ({"type": name, "pts_us": 0} for name in ("speech.started", "speech.ended", "interrupted"))


def words(page):
    return page.run("return [...document.querySelectorAll('#log small')].map((one) => one.textContent.split(' ').slice(2).join(' '))")


def is_spoken(page):
    page.tell(STARTED)
    page.wait("the avatar speaks", page.speaks)


def is_silent(page):
    page.tell(ENDED)
    page.wait("the avatar is silent", lambda: not page.speaks())


def all_is_said(page, count):
    page.wait("all is said", lambda: page.states()[-count:] == ["said"] * count)


def marks_a_refused_text(page):
    page.say("...")
    page.say("A text.")
    page.tell({"type": "error", "code": "invalid", "message": "nothing to speak"})
    page.wait("it is marked", lambda: page.states() == ["refused", "waiting"])
    hint = page.text("#composer-hint")
    check("nothing to speak in this text" in hint and page.run("return document.getElementById('composer-hint').dataset.tone") == "alarm", hint)
    is_spoken(page)
    check(page.text("#subtitle") == "A text." and page.states() == ["refused", "speaking"], f"{page.text('#subtitle')} {page.states()}")
    is_silent(page)
    all_is_said(page, 1)
    page.say("Another one.")
    check(page.text("#composer-hint") == "", f"an error stays: {page.text('#composer-hint')}")
    page.tell({"type": "error", "code": "not_spoken", "message": "espeak-ng: signal 11"})
    page.wait("it is marked", lambda: page.states()[-1] == "refused")
    check(words(page)[-1] == "Not spoken" and "signal" not in page.text("#composer-hint"), page.text("#composer-hint"))
    check("could not be spoken" in page.text("#composer-hint"), page.text("#composer-hint"))


def shows_no_wrong_subtitle(page):
    page.say("First.")
    page.say("Second one.")
    is_spoken(page)
    page.wait("what may be either is not shown", lambda: page.text("#subtitle") == "")
    is_silent(page)
    all_is_said(page, 2)
    page.say("Third.")
    is_spoken(page)
    check(page.text("#subtitle") == "Third.", page.text("#subtitle"))
    is_silent(page)
    page.say("Fourth.")
    page.run("fakes.skewMs += 1000")  # the third is over, whatever voice spoke it
    is_spoken(page)
    page.wait("the text that came after the silence is shown", lambda: page.text("#subtitle") == "Fourth.")
    check(page.states()[-2:] == ["said", "speaking"], f"{page.states()}")
    is_silent(page)
    all_is_said(page, 2)


def settles_what_was_interrupted_only(page):
    page.say("This is interrupted.")
    is_spoken(page)
    page.find("#text").send_keys(Keys.ESCAPE)
    page.say("This comes after it.")
    page.tell(INTERRUPTED)
    page.wait("the first is interrupted", lambda: page.states()[-2] == "stopped")
    check(page.states()[-1] == "waiting", f"the text after it: {page.states()[-1]}")
    page.tell(ENDED)
    time.sleep(1.5)  # longer than a silence after which what was spoken counts as said
    check(page.states()[-1] == "waiting", f"it was not spoken yet: {page.states()[-1]}")
    is_spoken(page)
    check(page.text("#subtitle") == "This comes after it.", page.text("#subtitle"))
    is_silent(page)
    all_is_said(page, 1)


def offers_interrupt_while_something_comes(page):
    check(not page.find("#interrupt").is_enabled(), "there is nothing to interrupt")
    page.say("Once more.")
    check(page.find("#interrupt").is_enabled(), "a text that waits can be interrupted")
    is_spoken(page)
    is_silent(page)
    all_is_said(page, 1)
    page.wait("there is nothing to interrupt", lambda: not page.find("#interrupt").is_enabled())


def shortens_long_texts(page):
    page.say("This sentence is one of many. " * 20)
    button = page.all("#log li:last-child button")[0]
    check(button.text == "Show all", button.text)
    high = "return document.querySelector('#log li:last-child p').clientHeight"
    short = page.run(high)
    page.run("arguments[0].click()", button)  # the log may be scrolling to it still
    check(page.run(high) > short and button.text == "Show less", f"{short} pixels, {page.run(high)} with all")


def main():
    with faked_page(pathlib.Path(sys.argv[1])) as page:
        begins(page)
        marks_a_refused_text(page)
        shows_no_wrong_subtitle(page)
        settles_what_was_interrupted_only(page)
        offers_interrupt_while_something_comes(page)
        shortens_long_texts(page)
        check(page.problems() == [], f"the console has errors: {page.problems()}")


main()
