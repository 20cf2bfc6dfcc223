"""usage: link_test.py CLIENT_FOLDER   what the page does when nothing comes, and when a session is over, with a gateway that is
faked
"""

import pathlib
import sys

from faked import DISCONTINUITY, KEY, PICTURE, READY, begins, check, faked_page

SPEAKS = 2
WAITS = {"type": "queue.update", "position": 2, "eta_s": 90}


def badge(page):
    return page.text("#badge")


def log(page):
    return page.run("return [...document.querySelectorAll('#log li p')].map((one) => one.textContent)")


def leaves(page):
    page.find("#leave").click()
    page.wait("the gallery is back", lambda: page.find("#gallery").is_displayed())


def is_ended(page, error):
    """By the gateway: no frame comes between the error and the end."""
    page.run("fakes.sockets.at(-1).tell(arguments[0]); fakes.sockets.at(-1).cut()", error)


def gives_up_what_never_opens(page):
    page.switch("hang", True)
    page.choose("ada")
    page.wait("a connection is made", lambda: page.count("sockets") == 1)
    page.run("fakes.skewMs += 8000")
    page.shows("Connecting to Ada")
    page.run("fakes.skewMs += 8000")
    page.shows("The server does not answer")
    page.switch("hang", False)
    leaves(page)


def begins_a_silent_queue_once_more(page):
    page.choose("ada")
    page.connected(2)
    page.tell(WAITS)
    check("Nine of ten wait less than 2 minutes" in page.text("#eta"), page.text("#eta"))
    page.tell({"type": "queue.update", "position": 1, "eta_s": None, "code": "withdrawn", "message": "no GPU is in service"})
    page.shows("Out of service for now")
    check(page.text("#eta") == "no GPU is in service", page.text("#eta"))
    page.tell(WAITS)
    page.run("fakes.skewMs += 20000")
    page.wait("the time is counted", lambda: page.text("#waited").startswith("You have waited 0:2"))
    page.tell(WAITS)
    page.run("fakes.silent = true; fakes.skewMs += 91000")
    page.connected(3)
    check("resume_token" not in page.run("return fakes.sockets.at(-1).sent[0]"), "there is nothing to resume")
    page.tell(WAITS)
    page.run("fakes.skewMs += 91000")
    page.shows("The connection was lost")
    check(page.count("sockets") == 3, f"{page.count('sockets')} connections")
    page.switch("silent", False)
    leaves(page)


def speaks_what_was_written_in_the_queue(page):
    page.choose("ada")
    page.connected(4)
    page.tell(WAITS)
    page.say("Written early.")
    check(page.sent() == ["session.start"], f"sent before the session began: {page.sent()}")
    page.tell(READY)
    page.media(PICTURE, KEY | DISCONTINUITY)
    page.wait("it is sent", lambda: page.sent() == ["session.start", "input.text"])
    check(page.states() == ["waiting"] and log(page) == ["Written early."], f"{page.states()} {log(page)}")


def keeps_the_badge_after_a_resume(page):
    check(badge(page) == "Ready", badge(page))
    page.tell({"type": "speech.started", "pts_us": 0})
    page.wait("the avatar speaks", lambda: badge(page) == "Speaking")
    page.run("fakes.sockets.at(-1).cut()")
    page.connected(5)
    page.tell(READY)
    page.wait("the session goes on", lambda: page.text("#status") == "Live")
    check(badge(page) == "Speaking", badge(page))
    page.media(PICTURE, KEY | DISCONTINUITY | SPEAKS)
    page.run("fakes.sockets.at(-1).cut()")
    page.connected(6)
    page.tell(READY)
    page.media(PICTURE, KEY | DISCONTINUITY)
    page.wait("the picture says that nobody speaks", lambda: badge(page) == "Ready")


def keeps_the_log_of_a_session_that_is_over(page):
    page.wait("the text is said", lambda: page.states() == ["said"])
    page.say("Never spoken.")
    is_ended(page, {"type": "error", "code": "worker_lost", "message": "gone"})
    page.shows("The avatar's computer dropped out")
    check(log(page) == ["Written early.", "Never spoken."] and page.states() == ["said", "lost"], f"{log(page)} {page.states()}")
    check(not page.find("#log .again").is_displayed(), "there is nobody to speak it")
    page.find("#veil button.primary").click()
    page.connected(7)
    page.tell(READY)
    page.wait("the session is live", lambda: page.text("#status") == "Live")
    page.run("arguments[0].click()", page.find("#log .again"))
    check(page.run("return fakes.sockets.at(-1).sent.at(-1).text") == "Never spoken.", f"{page.sent()}")
    check(not page.all("#log .again"), "it is offered still")


def says_nothing_of_an_avatar_that_is_gone(page):
    leaves(page)
    page.choose("ada")
    page.connected(8)
    page.tell(READY)
    page.wait("it is ready", lambda: "Ada is ready" in page.text("#log"))
    is_ended(page, {"type": "error", "code": "key_revoked", "message": "revoked"})
    page.shows("Your access was taken back")
    check("Ada is" not in page.text("#log"), page.text("#log"))


def offers_what_helps(page):
    buttons = [one.text for one in page.all("#veil button")]
    check(buttons == ["Enter another key", "Choose another avatar"], f"{buttons}")
    page.find("#veil button.primary").click()
    page.wait("the gallery is back", lambda: page.find("#gallery").is_displayed() and page.all(".card[data-avatar=ada]"))
    page.choose("ada")
    page.connected(9)
    is_ended(page, {"type": "error", "code": "forbidden", "message": "origin"})
    page.shows("This page may not use the server")
    check([one.text for one in page.all("#veil button")] == ["Choose another avatar"], page.text("#veil"))


def notices_silence_before_the_first_frame(page, sockets):
    page.find("#veil button").click()
    page.choose("ada")
    page.connected(sockets)
    page.run("fakes.silent = true; fakes.skewMs += 121000")
    page.connected(sockets + 1)
    page.switch("silent", False)
    page.tell(READY)
    page.wait("the session is live", lambda: page.text("#status") == "Live")


def main():
    with faked_page(pathlib.Path(sys.argv[1])) as page:
        gives_up_what_never_opens(page)
        begins_a_silent_queue_once_more(page)
        speaks_what_was_written_in_the_queue(page)
        keeps_the_badge_after_a_resume(page)
        keeps_the_log_of_a_session_that_is_over(page)
        says_nothing_of_an_avatar_that_is_gone(page)
        offers_what_helps(page)
        notices_silence_before_the_first_frame(page, 10)
        check(page.problems() == [], f"the console has errors: {page.problems()}")


main()
