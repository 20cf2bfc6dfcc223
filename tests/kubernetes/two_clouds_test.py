"""usage: two_clouds_test.py NAVTALK FAKE_WORKER FAKE_RUNPOD   one pool of the real binary with a cluster and Runpod"""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "fakes/kubernetes"))
from api_server import TOKEN, FakeCluster  # noqa: E402

NAVTALK, FAKE_WORKER, FAKE_RUNPOD = sys.argv.pop(1), sys.argv.pop(1), sys.argv.pop(1)
PATIENCE_S = 60


class TwoClouds(unittest.TestCase):
    def setUp(self):
        # In memory where that can be: on a busy disk a commit may take longer than others wait for the store.
        folder = tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.cluster = FakeCluster(FAKE_WORKER, gpus=1)
        self.addCleanup(self.cluster.close)
        command = [FAKE_RUNPOD, "--until-eof", "--workers", "fake"]
        self.runpod = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.end_runpod)
        self.place = json.loads(self.runpod.stdout.readline())
        (self.folder / "token").write_text(TOKEN)
        (self.folder / "token").chmod(0o600)
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": folder.name,
            "STATE_DIRECTORY": folder.name,
            "RUNPOD_API_KEY": "not-a-key",
            "NAVTALK_WORKER_TOKEN": "a-token-of-this-test",
        }

    def end_runpod(self):
        self.runpod.stdin.close()
        self.runpod.wait(20)
        self.runpod.stdout.close()

    def configure(self, pods, first="kubernetes", usd_per_hour=0.1):
        (self.folder / "navtalk.toml").write_text(
            f"""
[store]
url = "sqlite:{self.folder}/pool.db"
[pool]
min_running_gpu = {pods}
free_running_gpu = {pods}
cloud = "on"
cloud_first = "{first}"
tick_s = 1
hold_down_s = 0
failed_hold_s = 0
allow_http_workers = true
[kubernetes]
api_url = "{self.cluster.url}"
token_file = "{self.folder}/token"
namespace = "gpus"
image = "registry.invalid/navtalk@sha256:0"
schedule_s = 0
settle_s = 2
usd_per_hour = {usd_per_hour}
[runpod]
api_url = "{self.place["api_url"]}"
proxy_url = "{self.place["proxy_url"]}"
image = "registry.invalid/navtalk@sha256:0"
gpu_types = ["RTX 4090"]
settle_s = 2
"""
        )

    def run_navtalk(self, *arguments):
        command = [NAVTALK, "--config", str(self.folder / "navtalk.toml"), *arguments]
        ran = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=PATIENCE_S)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        return ran.stdout

    def rows(self):
        return json.loads(self.run_navtalk("--json", "pool", "status"))["gpus"]

    def idle(self):
        return sorted(row["provider"] for row in self.rows() if row["state"] == "idle")

    @contextlib.contextmanager
    def scaling(self):
        command = [NAVTALK, "--config", str(self.folder / "navtalk.toml"), "pool", "scale", "--watch"]
        with open(self.folder / "log", "ab") as log:
            process = subprocess.Popen(command, env=self.environment, stdout=subprocess.DEVNULL, stderr=log)
        try:
            yield
        finally:
            process.kill()
            process.wait()

    def wait(self, what, condition, patience_s=PATIENCE_S):
        deadline = time.monotonic() + patience_s
        while time.monotonic() < deadline:
            if condition():
                return
            time.sleep(0.05)
        raise AssertionError(f"{what} did not come: {self.rows()} {(self.folder / 'log').read_text()}")

    def settles(self, wanted):
        with self.scaling():
            self.wait(f"{wanted}", lambda: self.idle() == wanted)

    def test_what_the_cluster_has_no_node_for_comes_from_runpod_and_both_go(self):
        self.configure(2)
        self.settles(["kubernetes", "runpod"])
        table = self.run_navtalk("pool", "status")
        self.assertIn("kubernetes", table)
        self.assertIn("runpod", table)
        for row in self.rows():
            self.assertEqual(row["provider_id"].startswith("kubernetes/"), row["provider"] == "kubernetes")
        # A scaler that starts again loses neither.
        before = {row["provider_id"] for row in self.rows()}
        self.settles(["kubernetes", "runpod"])
        self.assertEqual({row["provider_id"] for row in self.rows()}, before)
        self.configure(0)
        with self.scaling():
            self.wait("an empty pool", lambda: not self.rows() and not self.cluster.living())

    def leak(self):
        """A pod of the pool that no row knows, as after a create whose answer was lost for good."""
        pod = json.loads(json.dumps(self.cluster.calls("create")[0]["body"]))
        name = pod["metadata"]["name"]
        del pod["status"], pod["spec"]["nodeName"]
        pod["metadata"] = {key: pod["metadata"][key] for key in ("name", "labels", "annotations")}
        manifest = json.dumps(pod)
        other = name[:-4] + ("0000" if name[-4:] != "0000" else "1111")
        self.cluster.create(json.loads(manifest.replace(name, other)))
        return other

    def has_row(self, pod):
        return any(f"/{pod}/" in row["provider_id"] for row in self.rows())

    def was_adopted(self, pod):
        """Its row may be gone again at once, for its worker has another pod's token."""
        lines = (self.folder / "log").read_text().splitlines()
        return any("an orphan was adopted" in line and f"/{pod}/" in line for line in lines)

    def test_while_one_cloud_is_away_the_other_is_looked_after(self):
        self.configure(2)
        self.settles(["kubernetes", "runpod"])
        (at_runpod,) = (row for row in self.rows() if row["provider"] == "runpod")
        (evicted,) = (pod["metadata"]["name"] for pod in self.cluster.living())
        self.place["api_url"] = "http://127.0.0.1:1"  # nobody listens there; its workers go on
        self.configure(2)
        self.cluster.set_gpus(2)
        self.cluster.remove(evicted)
        leaked = self.leak()
        with self.scaling():
            # Orphans wait for a minute: their row may be on its way.
            self.wait("a row for what leaked", lambda: self.was_adopted(leaked), 4 * PATIENCE_S)
            self.wait("the evicted pod's end", lambda: not self.has_row(evicted))
            self.wait("both", lambda: self.idle() == ["kubernetes", "runpod"])
        (still,) = (row for row in self.rows() if row["provider"] == "runpod")
        self.assertEqual((still["id"], still["provider_id"]), (at_runpod["id"], at_runpod["provider_id"]))
        self.assertIn("a cloud's list is not complete", (self.folder / "log").read_text())

    def test_the_order_and_the_price_choose_the_cloud(self):
        self.configure(1, first="runpod")
        self.settles(["runpod"])
        self.assertEqual(self.cluster.ever, [])
        self.configure(0)
        with self.scaling():
            self.wait("an empty pool", lambda: not self.rows())
        # Of the fake's prices none is so high, and none so low.
        self.configure(1, first="cheapest", usd_per_hour=50)
        self.settles(["runpod"])
        self.assertEqual(self.cluster.ever, [])
        self.configure(0)
        with self.scaling():
            self.wait("an empty pool", lambda: not self.rows())
        self.configure(1, first="cheapest", usd_per_hour=0.01)
        self.settles(["kubernetes"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
