"""A store, a fake Runpod and the scaler as processes, for tests of the binary."""

import contextlib
import json
import os
import pathlib
import sqlite3
import subprocess
import time
import urllib.request

SETTLE_S = 2
PATIENCE_S = 60


class Pool:
    """A store, a fake Runpod, and the scaler as a process that can be killed."""

    def __init__(self, navtalk, fake_runpod, folder, *fake_arguments, **settings):
        self.navtalk = navtalk
        self.folder = pathlib.Path(folder)
        self.database = self.folder / "pool.db"
        self.fake = subprocess.Popen(
            [fake_runpod, "--until-eof", "--workers", "fake", *fake_arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.place = json.loads(self.fake.stdout.readline())
        self.fake_url = self.place["fake_url"]
        self.configure(**settings)
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": folder,
            "STATE_DIRECTORY": folder,
            "RUNPOD_API_KEY": "not-a-key",
            "NAVTALK_WORKER_TOKEN": "a-token-of-this-test",
        }

    def configure(self, cloud="on", image="registry.invalid/navtalk@sha256:0", pods=1, name="default", prefix="navtalk", paused=0, most=16, hold=0):
        place = self.place
        (self.folder / "navtalk.toml").write_text(
            f"""
[store]
url = "sqlite:{self.database}"
[pool]
name = "{name}"
min_running_gpu = {pods}
free_running_gpu = {pods}
cloud = "{cloud}"
max_gpus = {most}
tick_s = 1
hold_down_s = 0
failed_hold_s = {hold}
[runpod]
api_url = "{place["api_url"]}"
proxy_url = "{place["proxy_url"]}"
image = "{image}"
name_prefix = "{prefix}"
max_paused = {paused}
gpu_types = ["RTX 4090"]
settle_s = {SETTLE_S}
"""
        )

    def close(self):
        self.fake.stdin.close()
        self.fake.wait(20)
        self.fake.stdout.close()

    def command(self, *arguments):
        return [self.navtalk, "--config", str(self.folder / "navtalk.toml"), *arguments]

    def json(self, *arguments):
        done = subprocess.run(
            self.command("--json", *arguments), env=self.environment, capture_output=True, text=True, timeout=120
        )
        if done.returncode != 0:
            raise AssertionError(f"{arguments}: {done.returncode} {done.stdout} {done.stderr}")
        return json.loads(done.stdout)

    def tick(self, status=0):
        """One `pool scale`, as a timer starts it, that ends with that exit status; what it logged."""
        done = subprocess.run(
            self.command("pool", "scale"), env=self.environment, capture_output=True, text=True, timeout=120
        )
        if done.returncode != status or done.stdout:
            raise AssertionError(f"a tick: {done.returncode} {done.stdout} {done.stderr}")
        return [json.loads(line) for line in done.stderr.splitlines()]

    def script(self, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(self.fake_url + path, data, timeout=20) as answer:
            text = answer.read()
            return json.loads(text) if text else None

    def pods(self):
        return [pod for pod in self.script("/pods")["pods"] if pod["removed_ms"] is None]

    def creates(self):
        return [call for call in self.script("/requests")["requests"] if call["call"] == "create"]

    def start(self):
        return subprocess.Popen(
            self.command("pool", "scale", "--watch"),
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def rows(self):
        return self.json("pool", "status")["gpus"]

    def wait(self, what, condition):
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            found = condition()
            if found:
                return found
            time.sleep(0.05)
        raise AssertionError(f"{what} did not come: {self.rows()} {self.pods()}")


@contextlib.contextmanager
def killed_after(process):
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def paid_pods(pool):
    """The ids that the ledger knows."""
    with contextlib.closing(sqlite3.connect(pool.database)) as database:
        return {row[0] for row in database.execute("SELECT provider_id FROM paid_spans")}
