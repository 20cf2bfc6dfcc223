"""usage: operator_cost_test.py CLIENT_FOLDER [SCREENSHOT]   the operator's page plots cost per hour over time, of a gateway that is faked"""

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

    def status(self):
        gpu = {"id": "pod-1", "provider": "runpod", "state": "running", "draining": False, "sessions": 1, "slots": 2, "gpu": None,
               "usd_per_hour": self.usd_per_hour, "since": "2026-01-01T10:00:00Z", "last_error": None}
        totals = {"gpus": 1, "slots": 2, "sessions": 1, "waiting": 0, "usd_per_hour": self.usd_per_hour, "usd_last_day": 3.4, "stale": False,
                  "creation_paused": None, "outages": [], "sessions_break": []}
        return {"totals": totals, "gpus": [gpu]}


class Gateway(http.server.SimpleHTTPRequestHandler):
    pool = Pool()

    def do_GET(self):
        path = self.path.split("?")[0]
        answers = {"/v1/pool": self.pool.status(), "/v1/pool/events": {"events": []}, "/v1/pool/cost": {"days": [], "budgets": []}}
        if path not in answers:
            self.path = "/operator.html" if path == "/operator" else path.removeprefix("/client")
            return super().do_GET()
        body = json.dumps(answers[path]).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def has_row(page, usd):
    """Whether the line stood there for a while, where HIGH is the top of the axis."""
    seen = page.run(ROWS)
    row = seen["height"] - MARGIN_BOTTOM - usd / HIGH * (seen["height"] - MARGIN_TOP - MARGIN_BOTTOM)
    return any(abs(one - row) < 3 for one in seen["rows"])


def main():
    folder = pathlib.Path(sys.argv[1])
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Gateway, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    driver = chromium()
    try:
        page = Page(driver, f"http://127.0.0.1:{server.server_port}", "/operator")
        page.find("#key").send_keys("a-key\n")
        page.wait("the pool is shown", lambda: page.find("#pool").is_displayed())
        page.wait("its cost is plotted", lambda: page.run(ROWS)["rows"])
        Pool.usd_per_hour = HIGH
        page.wait("the higher cost is plotted", lambda: "2.00" in page.text("#tiles") and has_row(page, HIGH))
        if not has_row(page, LOW):
            raise AssertionError(f"the cost of before is gone: {page.run(ROWS)}")
        if len(sys.argv) > 2:
            driver.save_screenshot(sys.argv[2])
        if page.problems():
            raise AssertionError(f"the console has errors: {page.problems()}")
    finally:
        driver.quit()
        server.shutdown()


main()
