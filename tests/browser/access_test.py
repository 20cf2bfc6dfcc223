"""usage: access_test.py NAVTALK [SCREENSHOT.png]   the page in headless Chromium where keys are needed: it asks for one, and a
session begins with a token
"""

import sys

from needs_selenium import needs

needs("chromium", "chromedriver")

from chromium import chromium  # noqa: E402
from page import Page  # noqa: E402
from serve import Serve  # noqa: E402


def enter(page, key):
    page.wait("the key is asked for", lambda: page.all("#key"))
    page.find("#key").send_keys(key + "\n")


def main():
    serve = Serve(sys.argv[1])
    driver = chromium()
    try:
        key = serve.make_key()
        serve.wait_worker()
        page = Page(driver, serve.url)
        enter(page, "no-key-of-this-pool")
        page.wait("a wrong key is refused", lambda: "does not take this key" in page.text("#key-problem"))
        if len(sys.argv) > 2:
            driver.save_screenshot(sys.argv[2])
        enter(page, key)
        page.wait("the gallery has the avatar", lambda: page.all(".card[data-avatar=ada]"))
        page.wait("its preview plays", lambda: page.run("return document.querySelector('.card[data-avatar=ada] video').videoWidth") > 0)
        if page.all("#key"):
            raise AssertionError("the key is still asked for")
        page.choose("ada")
        page.wait_live()
        page.say("Hello.")
        page.wait("the text is said", lambda: page.states()[-1:] == ["said"])
        if key in page.run("return document.documentElement.outerHTML + JSON.stringify([localStorage, sessionStorage])"):
            raise AssertionError("the key is left in the page")
        page.find("#leave").click()
        page.choose("theo")  # with another token
        page.wait_live()
        if not all("401" in one for one in page.problems()):
            raise AssertionError(f"the console has errors: {page.problems()}")
    finally:
        driver.quit()
        serve.close()


main()
