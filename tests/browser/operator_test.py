"""usage: operator_test.py NAVTALK   the operator's page in headless Chromium: the key, the pool, its events"""

import sys

from needs_selenium import needs

needs("chromium", "chromedriver")

from chromium import chromium  # noqa: E402
from page import Page  # noqa: E402
from serve import Serve  # noqa: E402


def sign_in(page, key):
    field = page.find("#key")
    field.clear()
    field.send_keys(key + "\n")


def main():
    serve = Serve(sys.argv[1])
    driver = chromium()
    try:
        page = Page(driver, serve.url, "/operator")
        sign_in(page, "a-wrong-key")
        page.wait("a wrong key is refused", lambda: "not one of this pool" in page.text("#problem"))
        refused = page.problems()
        if not all("401" in one for one in refused):
            raise AssertionError(f"the console has errors: {refused}")
        sign_in(page, "a-key-of-these-tests")
        page.wait("the pool is shown", lambda: page.find("#pool").is_displayed())
        page.wait("its worker becomes idle", lambda: "idle" in page.text("#gpus"))
        if "–" not in page.text("#gpus"):
            raise AssertionError(f"a CPU has no memory of a GPU: {page.text('#gpus')}")
        page.wait("its events are shown", lambda: "idle" in page.text("#events"))
        who = page.run("return [...document.querySelectorAll('#events td:last-child span')].map((one) => [one.textContent, one.title])")
        if not all(title.startswith(short) and len(short) < 40 for short, title in who) or not any(short != title for short, title in who):
            raise AssertionError(f"who did it is not shortened: {who}")
        press = "const one = document.querySelector('#gpus button[data-action$=\" drain\"]'); one?.click(); return Boolean(one)"
        page.wait("a drain is offered", lambda: page.run(press))
        page.wait("it is asked for, and told of", lambda: "drain" in page.text("#events"))
        if "$ an hour" not in page.text("#tiles") or "0 of 1 slots" not in " ".join(page.text("#tiles").split()):
            raise AssertionError(f"cost or sessions are missing: {page.text('#tiles')}")
        page.wait("a week without cost is shown as such", lambda: "Nothing was used" in page.text("#cost"))
        if len(sys.argv) > 2:
            driver.save_screenshot(sys.argv[2])
        if len(page.problems()) > 2 or not all("401" in one for one in page.problems()):
            raise AssertionError(f"the console has errors: {page.problems()}")
    finally:
        driver.quit()
        serve.close()


main()
