"""Headless Chromium, with a microphone that hears a WAV file."""

import os

from selenium import webdriver
from selenium.webdriver.chrome.service import Service


def chromium(microphone=None):
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for argument in ("--headless=new", "--disable-gpu", "--mute-audio", "--window-size=1280,900", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")  # which Chromium refuses to root
    options.add_argument("--use-fake-ui-for-media-stream")
    options.add_argument("--use-fake-device-for-media-stream")
    if microphone:
        options.add_argument(f"--use-file-for-fake-audio-capture={microphone}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
