"""The pool of the real binary against a fake Kubernetes API server, for tests of both.

The first two arguments of the test are NAVTALK and FAKE_WORKER.
"""

import contextlib
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "fakes/kubernetes"))
from api_server import TOKEN, FakeCluster  # noqa: E402

NAVTALK, FAKE_WORKER = sys.argv.pop(1), sys.argv.pop(1)
PATIENCE_S = 60
ROW = "navtalk/row"


class Pool:
    def __init__(self, folder, url):
        self.folder = pathlib.Path(folder)
        self.access = f'api_url = "{url}"\ntoken_file = "{folder}/token"\nnamespace = "gpus"'
        (self.folder / "token").write_text(TOKEN + "\n")
        (self.folder / "token").chmod(0o600)
        self.configure()
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": folder,
            "STATE_DIRECTORY": folder,
            "NAVTALK_WORKER_TOKEN": "a-token-of-this-test",
        }

    def configure(self, pods=1, extra="", pool="", image="registry.invalid/navtalk@sha256:0"):
        (self.folder / "navtalk.toml").write_text(
            f"""
[store]
url = "sqlite:{self.folder}/pool.db"
[pool]
name = "Test"
min_running_gpu = {pods}
free_running_gpu = {pods}
cloud = "on"
max_gpus = 16
tick_s = 1
hold_down_s = 0
failed_hold_s = 0
allow_http_workers = true
{pool}
[local]
devices = ["none"]
[kubernetes]
{self.access}
image = "{image}"
schedule_s = 0
settle_s = 2
{extra}
"""
        )

    def run(self, *arguments):
        command = [NAVTALK, "--config", str(self.folder / "navtalk.toml"), *arguments]
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=120)

    def json(self, *arguments):
        done = self.run("--json", *arguments)
        if done.returncode != 0:
            raise AssertionError(f"{arguments}: {done.returncode} {done.stdout} {done.stderr}")
        return json.loads(done.stdout)

    def rows(self):
        return self.json("pool", "status")["gpus"]

    def events(self):
        return " ".join(event["why"] for event in self.json("pool", "events")["events"])

    @contextlib.contextmanager
    def scaling(self):
        command = [NAVTALK, "--config", str(self.folder / "navtalk.toml"), "pool", "scale", "--watch"]
        with open(self.folder / "log", "ab") as log:
            process = subprocess.Popen(command, env=self.environment, stdout=subprocess.DEVNULL, stderr=log)
        try:
            yield process
        finally:
            process.kill()
            process.wait()

    def write(self, *statements):
        with contextlib.closing(sqlite3.connect(self.folder / "pool.db", timeout=20)) as database, database:
            for statement, *values in statements:
                database.execute(statement, values)

    def begin_session(self, name):
        """As a gateway records one that does not end."""
        session = "INSERT INTO sessions (lease, claimant, gpu, slot, epoch, tenant, gateway, url, arrived_at, claimed_at, until, lane)"
        values = " SELECT 'lease', 'claimant', id, 0, 1, '', 'test', url, created_at, created_at, created_at + 3600000000, 0 FROM gpus WHERE name = ?"
        self.write((session + values, name), ("UPDATE gpus SET sessions = 1, state = 1, version = version + 1 WHERE name = ?", name))

    def end_session(self, name):
        self.write(("DELETE FROM sessions",), ("UPDATE gpus SET sessions = 0, state = 0, version = version + 1 WHERE name = ?", name))

    @contextlib.contextmanager
    def serving(self):
        """A gateway, which lists every minute and watches in between."""
        command = [NAVTALK, "--config", str(self.folder / "navtalk.toml"), "serve", "--listen", "127.0.0.1:0", "--drain-s", "0"]
        with open(self.folder / "log", "ab") as log:
            process = subprocess.Popen(command, env=self.environment, stdout=subprocess.DEVNULL, stderr=log)
        try:
            yield process
        finally:
            process.terminate()
            process.wait()

    def spans(self):
        with contextlib.closing(sqlite3.connect(self.folder / "pool.db")) as database:
            return {row[0] for row in database.execute("SELECT provider_id FROM paid_spans")}


def id_of(pod):
    return f"kubernetes/gpus/{pod['metadata']['name']}/{pod['metadata']['uid']}"


class PoolCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
        self.addCleanup(folder.cleanup)
        self.cluster = FakeCluster(FAKE_WORKER)
        self.addCleanup(self.cluster.close)
        # Whatever was sent and answered was as the published schema has it.
        self.addCleanup(lambda: self.assertEqual(self.cluster.wrong, []))
        self.pool = Pool(folder.name, self.cluster.url)

    def wait(self, what, condition, patience_s=PATIENCE_S):
        deadline = time.monotonic() + patience_s
        while time.monotonic() < deadline:
            found = condition()
            if found:
                return found
            time.sleep(0.05)
        log = (self.pool.folder / "log").read_text() if (self.pool.folder / "log").exists() else ""
        raise AssertionError(f"{what} did not come: {self.pool.rows()} {self.cluster.living()} {log}")

    def settled(self, count=1):
        rows, pods = self.pool.rows(), self.cluster.living()
        idle = [row for row in rows if row["state"] == "idle"]
        return len(rows) == len(pods) == len(idle) == count and rows

    def settle(self, count=1):
        """Runs the scaler until so many pods serve so many idle rows, and nothing else is left."""
        with self.pool.scaling():
            rows = self.wait(f"{count} idle GPUs", lambda: self.settled(count))
        pods = self.cluster.living()
        self.assertEqual({row["provider_id"] for row in rows}, {id_of(pod) for pod in pods})
        self.assertEqual({row["name"] for row in rows}, {pod["metadata"]["annotations"][ROW] for pod in pods})
        # Every pod that ever was stands in the ledger, under the provider's name.
        self.assertEqual({f.rsplit("/", 1)[1] for f in self.pool.spans() if f.startswith("kubernetes/gpus/")}, set(self.cluster.ever))
        return rows
