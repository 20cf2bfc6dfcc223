"""usage: firefox_run.py NAVTALK [SCREENSHOT.png]   the page in headless Firefox: a session by text, or the page's own words for
why this Firefox cannot have one

Not part of ctest. Debian has no geckodriver, so this speaks WebDriver BiDi with Firefox itself.
"""

import base64
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from needs_selenium import needs

needs("firefox-esr", "firefox-esr")

import websocket  # noqa: E402
from serve import PATIENCE_S, Serve  # noqa: E402

PREFERENCES = {
    "media.autoplay.default": 0,
    "media.navigator.permission.disabled": True,
    "media.navigator.streams.fake": True,
    "remote.prefs.recommended": True,
}


class Firefox:
    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="navtalk-firefox-")
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in PREFERENCES.items()]
        pathlib.Path(self.folder.name, "user.js").write_text("\n".join(lines))
        command = ["firefox-esr", "--headless", "--remote-debugging-port", "0", "--no-remote", "--profile", self.folder.name]
        environment = {**os.environ, "HOME": self.folder.name, "MOZ_HEADLESS_WIDTH": "1280", "MOZ_HEADLESS_HEIGHT": "900"}
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, env=environment, text=True)
        url = None
        for line in self.process.stderr:
            found = re.search(r"WebDriver BiDi listening on (ws://\S+)", line)
            if found:
                url = found.group(1)
                break
        self.socket = websocket.create_connection(url + "/session", timeout=PATIENCE_S, suppress_origin=True)
        self.numbers = itertools.count(1)
        self.errors = []
        self.ask("session.new", capabilities={})
        self.ask("session.subscribe", events=["log.entryAdded"])
        self.context = self.ask("browsingContext.getTree")["contexts"][0]["context"]

    def ask(self, method, **parameters):
        number = next(self.numbers)
        self.socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self.socket.recv())
            if answer.get("method") == "log.entryAdded" and answer["params"]["level"] == "error":
                self.errors.append(answer["params"]["text"])
            if answer.get("id") == number:
                if answer["type"] == "error":
                    raise AssertionError(f"{method}: {answer['message']}")
                return answer["result"]

    def run(self, expression):
        """Its value, as JSON."""
        result = self.ask(
            "script.evaluate",
            expression=f"JSON.stringify({expression})",
            target={"context": self.context},
            awaitPromise=True,
            userActivation=True,
        )
        if result["type"] == "exception":
            raise AssertionError(result["exceptionDetails"]["text"])
        return json.loads(result["result"].get("value") or "null")

    def go(self, url):
        self.ask("browsingContext.navigate", context=self.context, url=url, wait="complete")

    def screenshot(self, file):
        data = self.ask("browsingContext.captureScreenshot", context=self.context)["data"]
        pathlib.Path(file).write_bytes(base64.b64decode(data))

    def close(self):
        self.socket.close()
        self.process.terminate()
        self.process.wait(PATIENCE_S)
        self.process.stderr.close()
        self.folder.cleanup()


def wait(firefox, what, expression):
    end = time.monotonic() + PATIENCE_S
    while not firefox.run(expression):
        if time.monotonic() > end:
            raise AssertionError(f"not within {PATIENCE_S} s: {what}\n{firefox.run('document.body.innerText')}\n{firefox.errors}")
        time.sleep(0.1)


def session(firefox):
    """True with a session; False when the page says why there is none."""
    live, failed = "'live' in document.getElementById('stage').dataset", "!!document.querySelector('#veil [role=alert]')"
    wait(firefox, "a session, or an explanation", f"{live} || {failed}")
    if firefox.run(failed):
        print("no session in this Firefox:", firefox.run("document.getElementById('veil').innerText"))
        return False
    firefox.run("(document.getElementById('statistics-button').click(), document.getElementById('text').value = 'Hello from Firefox.',"
                " document.getElementById('composer').requestSubmit())")
    wait(firefox, "the avatar speaks", "'speaking' in document.getElementById('badge').dataset")
    wait(firefox, "the text is said", "document.querySelector('#log li')?.dataset.state === 'said'")
    print("a session in Firefox:", firefox.run("document.getElementById('figures').innerText").split())
    return True


def main():
    serve = Serve(sys.argv[1])
    firefox = Firefox()
    try:
        serve.wait_worker()
        firefox.go(serve.url + "/")
        wait(firefox, "the gallery", "!!document.querySelector('.card[data-avatar=ada]')")
        print("version:", firefox.run("navigator.userAgent"))
        firefox.run("document.querySelector('.card[data-avatar=ada]').click()")
        session(firefox)
        if len(sys.argv) > 2:
            firefox.screenshot(sys.argv[2])
        if firefox.errors:
            raise AssertionError(f"the console has errors: {firefox.errors}")
    finally:
        firefox.close()
        serve.close()


main()
