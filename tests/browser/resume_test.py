"""usage: resume_test.py NAVTALK   the page in headless Chromium: its connection is cut, or its gateway stands still, and the session
goes on
"""

import os
import signal
import sys
import urllib.parse

from needs_selenium import needs

needs("chromium", "chromedriver")

from chromium import chromium  # noqa: E402
from page import Page  # noqa: E402
from proxy import Proxy  # noqa: E402
from serve import Serve  # noqa: E402


def main():
    serve = Serve(sys.argv[1])
    address = urllib.parse.urlsplit(serve.url)
    proxy = Proxy(address.hostname, address.port)
    driver = chromium()
    try:
        serve.wait_worker()
        page = Page(driver, f"http://127.0.0.1:{proxy.port}")
        page.choose("ada")
        page.wait_live()
        page.run(
            "window.statuses = []; new MutationObserver(() => window.statuses.push(document.getElementById('status').textContent))"
            ".observe(document.getElementById('status'), { childList: true, characterData: true, subtree: true })"
        )
        for times, breaks in enumerate((proxy.cut, proxy.cut, lambda: os.kill(serve.process.pid, signal.SIGSTOP)), 1):
            breaks()
            page.wait("the page reconnects", lambda: "Reconnecting" in page.run("return window.statuses"))
            os.kill(serve.process.pid, signal.SIGCONT)
            page.wait("the session goes on", lambda: page.run("return window.statuses.at(-1) ?? ''").startswith("Live"))
            page.run("window.statuses = []")
            if serve.metric("navtalk_gateway_resumed_total") != times:
                raise AssertionError(f"resumed: {serve.metric('navtalk_gateway_resumed_total')}, not {times}")
            page.watch()
            page.say("Here I am again.")
            page.wait("the avatar speaks", page.spoke)
            page.wait("pictures change", lambda: sum(one["changed"] > 0.001 for one in page.seen()) > 5)
            page.stop_watching()
            page.wait("the text is said", lambda: page.states()[-1:] == ["said"])
        if len([gpu for gpu in serve.gpus() if gpu["sessions"] == 1]) != 1:
            raise AssertionError(f"the session has more than one slot: {serve.gpus()}")
    finally:
        driver.quit()
        proxy.close()
        serve.close()


main()
