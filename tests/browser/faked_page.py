"""The page and its library with a gateway and decoders that are faked (fakes.js)."""

import contextlib
import functools
import http.server
import json
import pathlib
import threading

from chromium import chromium
from page import Page

ADA = {"id": "ada", "width": 64, "height": 64, "fps": 25, "loop": True, "voice": "en-us+f3", "preview": None, "preview_part": None}
THEO = {**ADA, "id": "theo", "voice": "en-gb"}
VIDEO = {"codec": "avc1.42C01F", "width": 64, "height": 64, "fps": 25}
READY = {"type": "session.ready", "session": "1", "avatar": "ada", "video": VIDEO, "audio": {"codec": "pcm_s16le", "rate": 16000},
         "actions": ["wave"], "resume_token": "9f86"}
SOUND, PICTURE = 1, 3
KEY, DISCONTINUITY = 1, 4


class Client(http.server.SimpleHTTPRequestHandler):
    """The client's files where the gateway has them, and two avatars."""

    def do_GET(self):
        if self.path == "/v1/avatars":
            body = json.dumps({"avatars": [ADA, THEO]}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            return
        self.path = self.path.removeprefix("/client")
        super().do_GET()

    def log_message(self, *_):
        pass


def check(holds, what):
    if not holds:
        raise AssertionError(what)


class FakedPage(Page):
    """The page, and what its gateway does."""

    def tell(self, frame):
        self.run("fakes.sockets.at(-1).tell(arguments[0])", frame)

    def media(self, kind, flags=0, sequence=1):
        self.run("fakes.sockets.at(-1).media(arguments[0], arguments[1], arguments[2], performance.now() * 1000)", kind, flags, sequence)

    def sent(self):
        """The types of all frames of the last connection, in order."""
        return self.run("return fakes.sockets.at(-1).sent.map((one) => one.type)")

    def sent_sound(self):
        return self.run("return fakes.sockets.at(-1).sent.reduce((sum, one) => sum + (one.bytes ?? 0), 0)")

    def count(self, name):
        return self.run("return fakes[arguments[0]].length", name)

    def switch(self, name, value):
        self.run("fakes[arguments[0]] = arguments[1]", name, value)

    def connected(self, sockets):
        started = ["session.start"]
        self.wait(f"connection {sockets} asks for a session", lambda: self.count("sockets") == sockets and self.sent()[:1] == started)

    def covered(self):
        return self.find("#veil").is_displayed()

    def shows(self, text):
        self.wait(f"the page shows: {text}", lambda: text in self.text("#veil"))

    def sees_picture(self, sequence):
        """A picture that comes now is drawn: all of them are red."""
        self.run("const one = document.getElementById('canvas'); one.getContext('2d').clearRect(0, 0, one.width, one.height)")
        self.media(PICTURE, KEY | DISCONTINUITY, sequence)
        pixel = "return [...document.getElementById('canvas').getContext('2d').getImageData(8, 8, 1, 1).data]"
        self.wait("the picture is drawn", lambda: self.run(pixel)[:2] == [255, 0])


@contextlib.contextmanager
def faked_page(folder):
    """`folder`: the client's."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Client, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    driver = chromium()
    try:
        fakes = pathlib.Path(__file__).with_name("fakes.js").read_text()
        driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": fakes})
        yield FakedPage(driver, f"http://127.0.0.1:{server.server_port}")
    finally:
        driver.quit()
        server.shutdown()
