"""usage: operator_cost_test.py CLIENT_FOLDER [SCREENSHOT]   the operator's page plots cost per hour over time, drains a GPU, and
says why a key is refused, of a gateway that is faked
"""

import functools
import http.server
import json
import pathlib
import sys
import threading

from needs_selenium import needs

needs("chromium", "chromedriver")

from chromium import chromium  # noqa: E402
from page import Page  # noqa: E402

PAUSE_MS = 2000  # of the page, between two questions
LOW, HIGH = 0.5, 2.0  # $ an hour
MARGIN_TOP, MARGIN_BOTTOM = 8, 24  # of the plot

# In pixels of the page, the rows of the plot that the line's colour fills for a while.
ROWS = """
const canvas = document.getElementById("cost-plot"), { width, height } = canvas;
const probe = document.createElement("i");
probe.style.color = getComputedStyle(canvas).getPropertyValue("--accent");
document.body.append(probe);
const wanted = getComputedStyle(probe).color.match(/\\d+/g).map(Number);
probe.remove();
const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
const rows = [];
for (let y = 0; y < height; ++y) {
  let run = 0;
  for (let x = 0; x < width; ++x) {
    const at = 4 * (y * width + x);
    run += data[at + 3] > 200 && wanted.every((value, i) => Math.abs(value - data[at + i]) < 12);
  }
  if (run > 8) rows.push(y / devicePixelRatio);
}
return { rows, height: canvas.clientHeight };
"""


class Pool:
    usd_per_hour = LOW
    draining = False
    asked = []  # paths of POST
    refuses_posts = False
    events = []  # whatever was seen of them already
    refusal = None  # (status, message) in place of every answer

    def status(self):
        gpu = {"id": "pod-1", "provider": "runpod", "state": "running", "draining": self.draining, "sessions": 1, "slots": 2, "gpu": None,
               "usd_per_hour": self.usd_per_hour, "since": "2026-01-01T10:00:00Z", "last_error": None}
        totals = {"gpus": 1, "slots": 2, "sessions": 1, "waiting": 0, "usd_per_hour": self.usd_per_hour, "usd_last_day": 3.4, "stale": False,
                  "creation_paused": None, "outages": [], "sessions_break": []}
        return {"totals": totals, "gpus": [gpu]}


class Gateway(http.server.SimpleHTTPRequestHandler):
    pool = Pool()

    def do_GET(self):
        path = self.path.split("?")[0]
        answers = {"/v1/pool": self.pool.status(), "/v1/pool/events": {"events": self.pool.events}, "/v1/pool/cost": {"days": [], "budgets": []}}
        if path not in answers:
            self.path = "/operator.html" if path == "/operator" else path.removeprefix("/client")
            return super().do_GET()
        status, body = 200, answers[path]
        if self.pool.refusal:
            status, body = self.pool.refusal[0], {"error": {"code": "forbidden", "message": self.pool.refusal[1]}}
        body = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        Pool.asked.append(self.path)
        Pool.draining = self.path.endswith("/drain")
        self.send_response(401 if Pool.refuses_posts else 202)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_):
        pass


def has_row(page, usd):
    """Whether the line stood there for a while, where HIGH is the top of the axis."""
    seen = page.run(ROWS)
    row = seen["height"] - MARGIN_BOTTOM - usd / HIGH * (seen["height"] - MARGIN_TOP - MARGIN_BOTTOM)
    return any(abs(one - row) < 3 for one in seen["rows"])


def sign_in(page):
    page.find("#key").send_keys("a-key\n")


def is_told_why_the_key_is_refused(page):
    Pool.refusal = (403, "/v1/pool needs an API key of role admin")
    sign_in(page)
    page.wait("the gateway's message is shown", lambda: "needs an API key of role admin" in page.text("#problem"))
    page.find("#key").clear()
    Pool.refusal = (503, "the store cannot be reached")
    sign_in(page)
    page.wait("another problem is no refusal", lambda: "has a problem: the store cannot be reached" in page.text("#problem"))
    page.find("#key").clear()
    Pool.refusal = None


def drains_and_undoes_it(page):
    press = "const one = document.querySelector('#gpus button'); if (one?.textContent !== arguments[0]) return false; one.click(); return true"
    page.wait("a drain is offered", lambda: page.run(press, "Drain"))
    page.wait("it can be undone", lambda: "draining" in page.text("#gpus") and page.run(press, "Undo drain"))
    page.wait("it is undone", lambda: "draining" not in page.text("#gpus"))
    assert Pool.asked == ["/v1/pool/gpus/pod-1/drain", "/v1/pool/gpus/pod-1/undrain"], Pool.asked


def is_asked_for_another_key(page):
    """When the key is taken back while the pool is shown."""
    Pool.refusal = (503, "the store cannot be reached")
    page.wait("the pool stays while the store is away", lambda: "store cannot be reached; trying again" in page.text("#status"))
    assert page.find("#pool").is_displayed()
    Pool.refusal = (401, "the API key was revoked")
    page.wait("the form is back", lambda: page.find("#sign-in").is_displayed() and not page.find("#pool").is_displayed())
    assert "the API key was revoked" in page.text("#problem"), page.text("#problem")
    assert not page.find("#status").is_displayed(), page.text("#status")
    Pool.refusal = None
    sign_in(page)
    page.wait("the pool is shown again", lambda: page.find("#pool").is_displayed() and page.text("#problem") == "")


def asks_in_one_loop(page):
    """When a button is refused, and somebody signs in before the loop of then asks again."""
    page.wait("a drain is offered", lambda: page.find("#gpus button").is_enabled())
    page.run("const ask = fetch; window.asked = []; fetch = (path, ...more) => {"
             "if (path === '/v1/pool') asked.push(performance.now()); return ask(path, ...more); }")
    Pool.events = [{"number": 7, "at": "2026-01-01T10:00:00Z", "gpu": "pod-1", "from": "idle", "to": "running", "why": "a lease", "who": "here"}]
    page.wait("the event is listed", lambda: "a lease" in page.text("#events"))
    Pool.refuses_posts = True
    page.run("document.querySelector('#gpus button').click()")
    page.wait("the form is back", lambda: page.find("#sign-in").is_displayed())
    page.run("asked.length = 0")
    sign_in(page)
    page.wait("the page asks again and again", lambda: page.run("return asked.length") >= 5)
    pauses = page.run("return asked.slice(1).map((one, i) => one - asked[i])")
    assert min(pauses) > PAUSE_MS - 50, f"two loops ask: {pauses}"
    rows = page.run("return document.querySelectorAll('#events tr').length")
    assert rows == 1, f"an event is listed {rows} times"


def main():
    folder = pathlib.Path(sys.argv[1])
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Gateway, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    driver = chromium()
    try:
        page = Page(driver, f"http://127.0.0.1:{server.server_port}", "/operator")
        is_told_why_the_key_is_refused(page)
        sign_in(page)
        page.wait("the pool is shown", lambda: page.find("#pool").is_displayed())
        page.wait("its cost is plotted", lambda: page.run(ROWS)["rows"])
        Pool.usd_per_hour = HIGH
        page.wait("the higher cost is plotted", lambda: "2.00" in page.text("#tiles") and has_row(page, HIGH))
        if not has_row(page, LOW):
            raise AssertionError(f"the cost of before is gone: {page.run(ROWS)}")
        if len(sys.argv) > 2:
            driver.save_screenshot(sys.argv[2])
        drains_and_undoes_it(page)
        is_asked_for_another_key(page)
        asks_in_one_loop(page)
        if not all(any(f"status of {code}" in one for code in (401, 403, 503)) for one in page.problems()):
            raise AssertionError(f"the console has errors: {page.problems()}")
    finally:
        driver.quit()
        server.shutdown()


main()
