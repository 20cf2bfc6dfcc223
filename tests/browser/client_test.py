"""usage: client_test.py CLIENT_FOLDER   the page and its library in headless Chromium, with a gateway and decoders that are faked
(fakes.js): what a server does seldom, such as losing workers and connections
"""

import functools
import http.server
import json
import pathlib
import sys
import threading
import time

from needs_selenium import needs

needs("chromium", "chromedriver")

from chromium import chromium  # noqa: E402
from page import Page  # noqa: E402
from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

ADA = {"id": "ada", "width": 64, "height": 64, "fps": 25, "loop": True, "voice": None, "preview": None, "preview_part": None}
VIDEO = {"codec": "avc1.42C01F", "width": 64, "height": 64, "fps": 25}
READY = {"type": "session.ready", "session": "1", "avatar": "ada", "video": VIDEO, "audio": {"codec": "pcm_s16le", "rate": 16000},
         "actions": ["wave"], "resume_token": "9f86"}
SOUND, PICTURE = 1, 3
KEY, DISCONTINUITY = 1, 4
MOST_BUFFERED = 65536

# Gives the page a sound file of so many seconds of silence.
CHOOSE_FILE = """
const bytes = 32000 * arguments[0], view = new DataView(new ArrayBuffer(44 + bytes));
const text = (at, letters) => [...letters].forEach((one, i) => view.setUint8(at + i, one.charCodeAt(0)));
text(0, "RIFF"); view.setUint32(4, 36 + bytes, true); text(8, "WAVEfmt "); view.setUint32(16, 16, true);
view.setUint16(20, 1, true); view.setUint16(22, 1, true); view.setUint32(24, 16000, true); view.setUint32(28, 32000, true);
view.setUint16(32, 2, true); view.setUint16(34, 16, true); text(36, "data"); view.setUint32(40, bytes, true);
const all = new DataTransfer(), input = document.getElementById("file");
all.items.add(new File([view.buffer], "silence.wav", { type: "audio/wav" }));
input.files = all.files;
input.dispatchEvent(new Event("change"));
"""


class Client(http.server.SimpleHTTPRequestHandler):
    """The client's files where the gateway has them, and one avatar."""

    def do_GET(self):
        if self.path == "/v1/avatars":
            body = json.dumps({"avatars": [ADA]}).encode()
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


def keeps_its_button(page, first, second):
    """Whether the veil's button has the focus still when the server tells of more."""
    page.tell(first)
    page.run("window.kept = document.querySelector('#veil button'); window.kept.focus()")
    page.tell(second)
    check(page.run("return document.activeElement === window.kept && window.kept.isConnected"), f"the veil was made anew: {second}")


def waits(page):
    keeps_its_button(page, {"type": "queue.update", "position": 2, "eta_s": 40}, {"type": "queue.update", "position": 1, "eta_s": 20})
    check(page.text("#veil .place") == "1" and "You are next" in page.text("#veil"), f"the place is old: {page.text('#veil')}")
    check(page.text("#eta") == "About 20 seconds", f"the time is old: {page.text('#eta')}")
    page.tell({"type": "queue.update", "position": None, "eta_s": None})
    check("You are in the queue" in page.text("#veil") and page.text("#veil .place") == "", page.text("#veil"))
    keeps_its_button(page, {"type": "session.preparing", "done": 0, "total": 0}, {"type": "session.preparing", "done": 1, "total": 2})
    check(page.run("return document.querySelector('#veil progress').value") == 0.5, "the progress is old")


def changes_worker(page):
    """While no GPU is free, and the lost one spoke and played an action."""
    page.tell({"type": "speech.started", "pts_us": 0})
    page.tell({"type": "action.started", "name": "wave", "pts_us": 0})
    page.wait("the avatar speaks", page.speaks)
    page.wait("the action is seen", lambda: page.all("#actions button[data-seen]"))
    page.tell({"type": "queue.update", "position": 1, "eta_s": 5})
    page.shows("You are next")
    page.tell({"type": "worker.changed", "gap_s": 2, "video": {**VIDEO, "width": 48}, "audio": READY["audio"]})
    check(not page.covered(), f"the queue is shown still: {page.text('#veil')}")
    check(page.text("#status") == "Live", page.text("#status"))
    check(not page.speaks(), "the avatar speaks still")
    check(not page.all("#actions button[data-seen]"), "the action is seen still")
    check(page.run("return document.getElementById('canvas').width") == 48, "the canvas has the size of the lost worker's pictures")
    page.sees_picture(7)
    page.say("Once more.")
    check(page.sent()[-1] == "input.text", f"the text was not sent: {page.sent()}")
    page.tell({"type": "worker.changed", "gap_s": 1, "video": VIDEO, "audio": READY["audio"]})
    check(page.states() == ["stopped"], f"the text was lost with the worker: {page.states()}")


def is_silent_when_interrupted(page):
    page.find("#text").send_keys(Keys.ESCAPE)
    check(page.sent()[-1] == "interrupt", f"{page.sent()}")
    page.media(SOUND)
    page.run("fakes.posted = []")
    page.tell({"type": "interrupted", "pts_us": 0})
    check("clear" in page.run("return fakes.posted"), "sound that was under way is played")


def interrupts_a_file(page):
    page.switch("full", True)
    page.run(CHOOSE_FILE, 20)
    page.wait("the file is being sent", lambda: page.sent_sound() > MOST_BUFFERED)
    page.say("And then a text.")
    time.sleep(0.1)
    check(page.sent_sound() < 1.2 * MOST_BUFFERED, f"{page.sent_sound()} bytes wait before an interrupt")
    check(page.sent()[-1] == "sound", "the text is within the file")
    page.find("#text").send_keys(Keys.ESCAPE)
    check(page.sent()[-1] == "interrupt", f"{page.sent()[-3:]}")
    page.run("fakes.full = false; fakes.sockets.at(-1).bufferedAmount = 0")
    time.sleep(0.1)
    check(page.sent()[-1] == "interrupt", f"after the interrupt: {page.sent()[-3:]}")


def sends_a_text_behind_a_file(page):
    page.switch("full", True)
    before = page.sent_sound()
    page.run(CHOOSE_FILE, 3)
    page.wait("the file is being sent", lambda: page.sent_sound() > before + MOST_BUFFERED)
    page.say("And then a text.")
    page.run("fakes.full = false; fakes.sockets.at(-1).bufferedAmount = 0")
    page.wait("all is sent", lambda: page.sent()[-3:] == ["sound", "input.end", "input.text"])
    check(page.sent_sound() - before == 3 * 32000, f"{page.sent_sound() - before} bytes of the file")


def resumes_after_a_harmless_error(page):
    page.tell({"type": "error", "code": "usage", "message": "no such thing"})
    page.media(SOUND)
    page.run("fakes.sockets.at(-1).cut()")
    page.connected(2)
    check(page.run("return fakes.sockets.at(-1).sent[0].resume_token") == "9f86", "the session is not resumed")
    page.tell(READY)
    page.wait("the session goes on", lambda: page.text("#status") == "Live")


def resumes_when_others_leave_room(page, sockets):
    page.run("fakes.sockets.at(-1).cut()")
    page.connected(sockets)
    page.tell({"type": "error", "code": "tenant_limit", "message": "as many as it may", "retry_after": 10})
    page.run("fakes.sockets.at(-1).cut()")
    page.connected(sockets + 1)
    check(page.run("return fakes.sockets.at(-1).sent[0].resume_token") == "9f86", "the session is not resumed")
    page.tell(READY)
    page.wait("the session goes on", lambda: page.text("#status") == "Live")


def gives_up_connections_that_hang(page, sockets):
    page.switch("hang", True)
    page.run("fakes.sockets.at(-1).cut()")
    page.wait("the page reconnects", lambda: page.count("sockets") == sockets)
    page.run("fakes.skewMs += 6000")
    page.wait("a connection that hangs is given up for another one", lambda: page.count("sockets") == sockets + 1)
    page.run("fakes.skewMs += 30000")
    page.shows("The connection was lost")
    page.switch("hang", False)


def begins_again(page, sockets):
    page.find("#veil button.primary").click()
    page.connected(sockets)
    page.tell(READY)
    page.wait("the session is live", lambda: page.text("#status") == "Live")


def press_microphone(page):
    ActionChains(page.driver).click_and_hold(page.find("#mic")).perform()


def release_microphone(page):
    ActionChains(page.driver).release().perform()


def leaves_no_microphone_open(page):
    page.switch("noCapture", True)
    press_microphone(page)
    page.wait("the user is told", lambda: "could not be opened" in page.text("#voice-hint"))
    release_microphone(page)
    check(page.run("return fakes.streams[0].getTracks()[0].readyState") == "ended", "the microphone is open still")
    page.switch("noCapture", False)


def opens_a_microphone_for_each_session(page, sockets):
    page.run("fakes.permission = new Promise((done) => { window.permit = done; })")
    press_microphone(page)
    page.wait("the microphone is asked for", lambda: page.count("streams") == 2)
    release_microphone(page)
    page.find("#leave").click()
    page.choose("ada")
    page.connected(sockets)
    page.run("window.permit()")
    page.wait("the microphone of the session before is closed",
              lambda: page.run("return fakes.streams[1].getTracks()[0].readyState") == "ended")
    check(page.text("#voice-hint") == "", f"the session before tells this one: {page.text('#voice-hint')}")
    page.tell(READY)
    press_microphone(page)
    page.wait("the microphone is asked for again", lambda: page.count("streams") == 3)
    page.wait("it is heard", lambda: "sound" in page.sent())
    release_microphone(page)


def ends_where_nothing_can_be_decoded(page):
    before = page.count("decoders")
    page.run("fakes.refuse = true; fakes.decoders.at(-1).fail()")
    page.shows("This browser cannot play H.264 video")
    check(page.sent()[-1] == "session.end", f"the gateway was not told: {page.sent()[-1]}")
    check(page.count("decoders") == before + 2, f"{page.count('decoders') - before} more decoders")
    check(page.run("return fakes.decoders.at(-1).config.hardwareAcceleration") == "prefer-software", "software was not tried")


def recovers_from_single_errors(page, sequence):
    for number in range(4):
        page.run("fakes.decoders.at(-1).fail()")
        check(page.sent()[-1] == "keyframe", f"{page.sent()[-1]}")
        page.sees_picture(sequence + number)


def main():
    folder = pathlib.Path(sys.argv[1])
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Client, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    driver = chromium()
    try:
        fakes = pathlib.Path(__file__).with_name("fakes.js").read_text()
        driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": fakes})
        page = FakedPage(driver, f"http://127.0.0.1:{server.server_port}")
        page.choose("ada")
        page.connected(1)
        waits(page)
        page.tell(READY)
        page.sees_picture(1)
        changes_worker(page)
        recovers_from_single_errors(page, 20)
        is_silent_when_interrupted(page)
        interrupts_a_file(page)
        sends_a_text_behind_a_file(page)
        resumes_after_a_harmless_error(page)
        resumes_when_others_leave_room(page, 3)
        gives_up_connections_that_hang(page, 5)
        begins_again(page, 7)
        leaves_no_microphone_open(page)
        opens_a_microphone_for_each_session(page, 8)
        ends_where_nothing_can_be_decoded(page)
        check(page.problems() == [], f"the console has errors: {page.problems()}")
    finally:
        driver.quit()
        server.shutdown()


main()
