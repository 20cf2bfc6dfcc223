"""The page of navtalk serve in a headless browser, as its user sees it."""

import time

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

PATIENCE_S = 120

# Watches the canvas until the test stops it: how open Ada's mouth is (0 to 1: what is dark or white like teeth in the mouth's
# place), and how much of the picture changed.
WATCH = """
const canvas = document.getElementById("canvas");
const badge = document.getElementById("badge");
const small = new OffscreenCanvas(64, 64), context = small.getContext("2d", { willReadFrequently: true });
const [x, y, w, h] = [0.38, 0.50, 0.24, 0.15].map((part, i) => part * (i % 2 ? canvas.height : canvas.width));
const seen = (window.seen = []);
let last = null;
window.watching = setInterval(() => {
  context.drawImage(canvas, x, y, w, h, 0, 0, 64, 64);
  const { data } = context.getImageData(0, 0, 64, 64);
  let open = 0, changed = 0;
  for (let i = 0; i < data.length; i += 4) {
    const [r, g, b] = [data[i], data[i + 1], data[i + 2]];
    const light = (r + g + b) / 3, colour = Math.max(r, g, b) - Math.min(r, g, b);
    if (light < 70 || (light > 190 && colour < 35)) open += 1;
    if (last && Math.abs(r - last[i]) > 12) changed += 1;
  }
  last = data;
  seen.push({ open: open / 4096, changed: changed / 4096, speaks: "speaking" in badge.dataset });
}, 40);
"""


class Page:
    def __init__(self, driver, url, path="/"):
        self.driver = driver
        self.logged = []
        driver.set_page_load_timeout(PATIENCE_S)
        driver.set_script_timeout(PATIENCE_S)
        driver.get(url + path)

    def find(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0])?.innerText ?? ''", selector)

    def wait(self, what, holds):
        """What holds() returned, when it was true."""
        end = time.monotonic() + PATIENCE_S
        while True:
            found = holds()
            if found:
                return found
            if time.monotonic() > end:
                shown = self.text("body")
                raise AssertionError(f"not within {PATIENCE_S} s: {what}\nthe page shows: {shown}\nlog: {self.problems()}")
            time.sleep(0.05)

    def choose(self, avatar):
        self.wait("the gallery has the avatar", lambda: self.all(f".card[data-avatar={avatar}]"))
        self.find(f".card[data-avatar={avatar}]").click()

    def is_live(self):
        return self.run("return 'live' in document.getElementById('stage').dataset")

    def wait_live(self):
        self.wait("the session is live", self.is_live)

    def say(self, text):
        field = self.find("#text")
        field.send_keys(text)
        field.send_keys(Keys.ENTER)

    def speaks(self):
        return self.run("return 'speaking' in document.getElementById('badge').dataset")

    def watch(self):
        self.run(WATCH)

    def seen(self):
        return self.run("return window.seen")

    def spoke(self):
        """Whether the avatar spoke since watch(), for however short a time."""
        return any(one["speaks"] for one in self.seen())

    def stop_watching(self):
        return self.run("clearInterval(window.watching); return window.seen")

    def states(self):
        """Of the captions: waiting, speaking, said, stopped."""
        return self.run("return [...document.querySelectorAll('#log li')].map((one) => one.dataset.state ?? '')")

    def figures(self):
        """The statistics that the page shows, by name."""
        if self.run("return document.getElementById('statistics').hidden"):
            self.run("document.getElementById('statistics-button').click()")
        return self.run(
            "const all = [...document.querySelectorAll('#figures > *')].map((one) => one.textContent);"
            "return Object.fromEntries(all.flatMap((name, i) => (i % 2 ? [] : [[name, all[i + 1]]])))"
        )

    def problems(self):
        """What the console shows as errors, broken policies included."""
        new = self.driver.get_log("browser")  # each is told once
        self.logged += [entry["message"] for entry in new if entry["level"] == "SEVERE"]
        return self.logged
