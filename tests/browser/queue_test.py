"""usage: queue_test.py NAVTALK   the page in headless Chromium: a user waits, gets the slot, and loses the gateway"""

import json
import sys
import threading

from needs_selenium import needs

needs("chromium", "chromedriver")

import websocket  # noqa: E402
from chromium import chromium  # noqa: E402
from page import PATIENCE_S, Page  # noqa: E402
from serve import Serve  # noqa: E402


class Other:
    """A user who takes the only slot."""

    def __init__(self, url):
        self.socket = websocket.create_connection(url.replace("http", "ws") + "/v1/realtime", timeout=PATIENCE_S)
        self.socket.send('{"type":"session.start","avatar":"ada"}')
        while True:
            frame = self.socket.recv()
            if isinstance(frame, str) and json.loads(frame)["type"] == "session.ready":
                break
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        try:
            while self.socket.recv():
                pass
        except (websocket.WebSocketException, OSError):
            pass

    def leave(self):
        self.socket.send('{"type":"session.end"}')
        self.reader.join(PATIENCE_S)


def main():
    serve = Serve(sys.argv[1])
    driver = chromium()
    try:
        serve.wait_worker()
        other = Other(serve.url)
        page = Page(driver, serve.url)
        page.choose("theo")
        page.wait("the place in the queue is shown", lambda: page.text("#veil .place") == "1")
        if "You are next" not in page.text("#veil") or not page.text("#eta"):
            raise AssertionError(f"the queue is not explained: {page.text('#veil')}")
        page.wait("screen readers are told", lambda: "You are next" in page.run("return document.getElementById('announce').textContent"))
        other.leave()
        page.wait_live()
        if page.problems():
            raise AssertionError(f"the console has errors: {page.problems()}")

        serve.stop()
        page.wait("the error is explained", lambda: "The connection was lost" in page.text("#veil [role=alert]"))
        if "Start again" not in page.text("#veil"):
            raise AssertionError("the user is not told what to do")
        page.find("#leave").click()
        page.wait("the gallery is back", lambda: page.find("#gallery").is_displayed())
    finally:
        driver.quit()
        serve.close()


main()
