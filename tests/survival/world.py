"""A store, a fake cloud and gateways that are killed; and what must be true of them afterwards."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from cloud import Cloud
from gateway import Gateway, environment_of
from stores import Sqlite

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "server"))
from worker_processes import worker_processes

PATIENCE_S = 60
CREATE = 1  # of the codes of Operation
IDLE, RUNNING, STARTING, PAUSED, FAILED, STOPPING = range(6)  # codes of State

CONFIG = """
[store]
url = "{store}"
[pool]
min_running_gpu = {least}
free_running_gpu = {most}
cloud = "on"
max_gpus = {max_gpus}
max_usd_per_hour = 0
tick_s = 1
hold_down_s = 0
failed_hold_s = {failed_hold_s}
lease_s = {lease_s}
[local]
devices = {devices}
[runpod]
api_url = "{api_url}"
proxy_url = "{proxy_url}"
image = "registry.invalid/navtalk@sha256:0"
gpu_types = ["RTX 4090", "H100"]
clouds = ["SECURE", "COMMUNITY"]
settle_s = {settle_s}
ready_timeout_s = 20
"""


def process_of(owner):
    """The process id in "host/namespace/pid/start"; an empty owner has none."""
    return owner.split("/")[-2] if owner else None


class World:
    def __init__(
        self,
        programs,
        store=None,
        least=1,
        most=2,
        max_gpus=8,
        lease_s=3,
        settle_s=2,
        failed_hold_s=1,
        devices=("none",),
    ):
        """`programs`: navtalk, fake_runpod, fake_worker."""
        place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="navtalk-world-", dir=place))
        self.navtalk = programs[0]
        self.journal = self.folder / "journal"
        self.store = store or Sqlite(self.folder)
        self.cloud = Cloud(programs[1], programs[2], self.journal)
        self.gateways = []
        self.environment = environment_of(
            self.folder,
            RUNPOD_API_KEY="not-a-key",
            NAVTALK_WORKER_TOKEN="a-secret-of-these-tests",
            NAVTALK_SERVER_RESUME_S="0",  # who drops is gone, unless a test starts its gateway with another time
        )
        self.config = self.folder / "navtalk.toml"
        self.config.write_text(
            CONFIG.format(
                store=self.store.url,
                least=least,
                most=most,
                max_gpus=max_gpus,
                lease_s=lease_s,
                settle_s=settle_s,
                failed_hold_s=failed_hold_s,
                devices=json.dumps(list(devices)),
                api_url=self.cloud.place["api_url"],
                proxy_url=self.cloud.place["proxy_url"],
            )
        )

    def close(self):
        for gateway in self.gateways:
            gateway.end()
        self.cloud.close()
        for pid in self.local_workers():
            os.kill(pid, 9)
        self.store.close()
        shutil.rmtree(self.folder)

    def start(self, wait=True, drain_s=0.2, **settings):
        """A gateway that has told its address, or is about to. `drain_s`: how long sessions outlive a SIGTERM; `settings`:
        LOCAL_SLOTS_PER_DEVICE="2" and the like.
        """
        command = [self.navtalk, "--config", str(self.config), "--json", "serve", "--listen", "127.0.0.1:0"]
        environment = {**self.environment, **{f"NAVTALK_{name}": value for name, value in settings.items()}}
        gateway = Gateway([*command, "--drain-s", str(drain_s)], environment, self.folder / "log")
        self.gateways.append(gateway)
        if wait:
            gateway.started()
        return gateway

    def kill(self, gateway):
        self.gateways.remove(gateway)
        gateway.end()

    def alive(self):
        return [gateway for gateway in self.gateways if gateway.alive() and gateway.started(0)]

    def json(self, *words):
        """What a command of navtalk prints; it has to succeed."""
        command = [self.navtalk, "--config", str(self.config), "--json", *words]
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=PATIENCE_S)
        if done.returncode != 0:
            raise AssertionError(f"{words}: {done.returncode} {done.stdout} {done.stderr}")
        return json.loads(done.stdout)

    # --- what is there

    def gpus(self):
        return self.store.rows("SELECT * FROM gpus")

    def sessions(self):
        return self.store.rows("SELECT * FROM sessions")

    def waiters(self):
        return self.store.rows("SELECT * FROM waiters")

    def local_workers(self):
        """Worker processes whose state folder is this world's."""
        return worker_processes(self.folder)

    def journal_lines(self):
        return [json.loads(line) for line in self.journal.read_text().splitlines()] if self.journal.exists() else []

    # --- what must be true

    def faults(self):
        """What rows, pods, worker processes and leases contradict each other in at this moment."""
        gpus, pods, sessions = self.gpus(), self.cloud.pods(), self.sessions()
        ids = [gpu["provider_id"] for gpu in gpus if gpu["provider_id"]]
        living = {str(gateway.pid) for gateway in self.gateways if gateway.process.poll() is None}
        found = [f"pod {pod['id']} has no row" for pod in pods if pod["id"] not in ids]
        found += [f"two rows stand for {id}" for id in set(ids) if ids.count(id) > 1]
        for gpu in gpus:
            cloud = gpu["source"] == 2
            gone = cloud and gpu["provider_id"] not in [pod["id"] for pod in pods]
            if gone and gpu["provider_id"] and gpu["state"] in (IDLE, RUNNING, PAUSED):
                found.append(f"row {gpu['id']} stands for a pod that is gone")
            if gpu["sessions"] != sum(session["gpu"] == gpu["id"] for session in sessions):
                found.append(f"row {gpu['id']} counts its sessions wrongly")
            if gpu["operation"] == CREATE and gpu["intent_called"] and process_of(gpu["intent_owner"]) not in living:
                found.append(f"the create of row {gpu['id']} is nobody's")
        for session in sessions:
            if process_of(session["gateway"]) not in living:
                found.append(f"lease {session['lease']} is a dead gateway's")
        workers = [gpu for gpu in gpus if gpu["source"] == 0 and gpu["state"] != FAILED]
        if len(self.local_workers()) > len(workers):
            found.append(f"{len(self.local_workers())} worker processes for {len(workers)} rows")
        return found

    def unsettled(self):
        """What is still under way, or used, beside faults()."""
        found = self.faults()
        for gpu in self.gpus():
            if gpu["state"] not in (IDLE, PAUSED) or gpu["operation"] != 0:
                found.append(f"row {gpu['id']} is in state {gpu['state']} with operation {gpu['operation']}")
        found += [f"{len(rows)} {what}" for what, rows in self.used().items() if rows]
        return found if self.gpus() else ["no GPU"]

    def used(self):
        return {"sessions": self.sessions(), "waiters": self.waiters()}

    def wait(self, what, holds, patience_s=PATIENCE_S, every_s=0.02):
        """Seconds until it held."""
        start = time.monotonic()
        while True:
            if holds():
                return time.monotonic() - start
            if time.monotonic() - start > patience_s:
                raise AssertionError(f"not within {patience_s} s: {what}\n{self.story()}")
            time.sleep(every_s)

    def wait_none(self, what, faults, patience_s=PATIENCE_S):
        """Seconds until the list was empty."""
        start = time.monotonic()
        while True:
            left = faults()
            if not left:
                return time.monotonic() - start
            if time.monotonic() - start > patience_s:
                raise AssertionError(f"not within {patience_s} s: {what}: {left}\n{self.story()}")
            time.sleep(0.1)

    def reconciled(self):
        return self.wait_none("everything is reconciled", self.faults)

    def settled(self, patience_s=PATIENCE_S):
        return self.wait_none("everything is at rest", self.unsettled, patience_s)

    def story(self):
        pods = [{key: pod[key] for key in ("id", "name", "status")} for pod in self.cloud.pods()]
        log = (self.folder / "log").read_text(errors="replace").splitlines()[-25:]
        return "\n".join([f"rows {self.gpus()}", f"pods {pods}", f"sessions {self.sessions()}", *log])

    # --- the books

    def leased_twice(self):
        """Epochs of a slot that two leases showed at its worker, and epochs that went back."""
        twice, owners, last = [], {}, {}
        for line in self.journal_lines():
            if line["event"] == "closed":
                continue
            slot = (line["worker"], line["slot"])
            if owners.setdefault((slot, line["epoch"]), line["lease"]) != line["lease"]:
                twice.append(f"epoch {line['epoch']} of {slot} belongs to two leases")
            if line["epoch"] < last.get(slot, 0):
                twice.append(f"epoch {line['epoch']} of {slot} came after {last[slot]}")
            last[slot] = line["epoch"]
        return twice

    def books(self):
        """Per pod: hours that the cloud counts, hours that the ledger has; seconds recorded before it was made and after its end."""
        spans = self.store.rows("SELECT provider_id, started_at, ended_at FROM paid_spans")
        before, pods, after = self.store.now_us(), self.cloud.pods_ever(), self.store.now_us()
        now = (before + after) // 2
        of_pod = {}
        for span in spans:
            of_pod.setdefault(span["provider_id"], []).append((span["started_at"], span["ended_at"] or now))
        return [self.book(pod, of_pod.get(pod["id"], []), now) for pod in pods]

    @staticmethod
    def book(pod, spans, now):
        made, now_there = now - 1000 * (pod["now_ms"] - pod["created_ms"]), pod["removed_ms"] is None
        gone = now if now_there else now - 1000 * (pod["now_ms"] - pod["removed_ms"])
        return {
            "id": pod["id"],
            "paid_h": pod["paid_ms"] / 3.6e6,
            "recorded_h": sum(end - start for start, end in spans) / 3.6e9 if spans else None,
            "early_s": (made - min(start for start, _ in spans)) / 1e6 if spans else 0,
            "late_s": (max(end for _, end in spans) - gone) / 1e6 if spans else 0,
        }

    def unrecorded(self):
        return [book["id"] for book in self.books() if book["recorded_h"] is None]
