"""navtalk serve with one CPU worker and the demo's avatars, as a process of its own, for browsers."""

import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "server"))
from worker_processes import worker_processes

PATIENCE_S = 120

CONFIG = """
[store]
url = "sqlite:{folder}/pool.db"
[pool]
min_running_gpu = 1
free_running_gpu = 0
max_gpus = 1
tick_s = 1
[local]
devices = ["cpu"]
slots_per_device = 1
"""


class Serve:
    def __init__(self, navtalk, avatars=None):
        """`avatars`: a folder that holds others than the demo's."""
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="navtalk-browser-"))
        self.navtalk = navtalk
        self.config = self.folder / "navtalk.toml"
        own = f'[avatars]\npath = "{avatars}"\n' if avatars else ""
        self.config.write_text(CONFIG.format(folder=self.folder) + own)
        self.environment = environment = {name: value for name, value in os.environ.items() if not name.startswith("NAVTALK_")}
        environment.update(STATE_DIRECTORY=str(self.folder), NAVTALK_OPERATOR_KEY="a-key-of-these-tests")
        environment["OMP_WAIT_POLICY"] = "passive"
        command = [navtalk, "--config", str(self.config), "--json", "serve", "--listen", "127.0.0.1:0", "--drain-s", "0.2"]
        self.log = open(self.folder / "log", "ab")
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.log, env=environment)
        ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE_S)
        line = self.process.stdout.readline() if ready else b""
        if not line:
            raise AssertionError("navtalk serve told no address\n" + self.story())
        self.url = json.loads(line)["url"]

    def gpus(self):
        request = urllib.request.Request(self.url + "/v1/pool", headers={"Authorization": "Bearer a-key-of-these-tests"})
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            return json.loads(answer.read())["gpus"]

    def wait_worker(self):
        """Until a worker is idle."""
        end = time.monotonic() + PATIENCE_S
        while not any(gpu["state"] == "idle" for gpu in self.gpus()):
            if time.monotonic() > end:
                raise AssertionError(f"no worker within {PATIENCE_S} s: {self.gpus()}\n{self.story()}")
            time.sleep(0.2)

    def make_key(self):
        """An API key, once the gateway asks for one."""
        command = [self.navtalk, "--config", str(self.config), "--json", "key", "create", "--tenant", "tests"]
        made = subprocess.run(command, stdout=subprocess.PIPE, env=self.environment, check=True, timeout=PATIENCE_S)
        end = time.monotonic() + PATIENCE_S
        while self.answers("/v1/avatars") != 401:
            if time.monotonic() > end:
                raise AssertionError(f"the gateway asks for no key within {PATIENCE_S} s\n{self.story()}")
            time.sleep(0.2)
        return json.loads(made.stdout)["key"]

    def answers(self, path):
        """The status without a key."""
        try:
            with urllib.request.urlopen(self.url + path, timeout=PATIENCE_S) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code

    def metric(self, name):
        request = urllib.request.Request(self.url + "/metrics", headers={"Authorization": "Bearer a-key-of-these-tests"})
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            lines = answer.read().decode().splitlines()
        return next(float(line.split()[-1]) for line in lines if line.split()[0] == name)

    def story(self):
        return "\n".join((self.folder / "log").read_text(errors="replace").splitlines()[-25:])

    def stop(self, sign=signal.SIGKILL):
        """The gateway goes away; its worker stays."""
        if self.process.poll() is None:
            self.process.send_signal(sign)
        self.process.wait(PATIENCE_S)

    def close(self):
        if sys.exc_info()[0] is not None:
            print(f"the gateway's and its worker's log ends:\n{self.story()}", file=sys.stderr)
        self.stop()
        self.process.stdout.close()
        self.log.close()
        for pid in worker_processes(self.folder):
            os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self.folder, ignore_errors=True)
