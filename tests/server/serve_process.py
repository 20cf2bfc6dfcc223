"""One navtalk serve as a process, and its users, for tests of the built program.

The first argument of the test is the program.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import urllib.error
import urllib.request

try:
    import websocket
except ModuleNotFoundError:
    # Another Python than Debian's may stand first in PATH; the module comes with a Debian package.
    if sys.executable != "/usr/bin/python3" and pathlib.Path("/usr/bin/python3").exists():
        os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])
    print("skipped: python3-websocket is not installed")
    sys.exit(0)

from patience import PATIENCE_S, eventually  # noqa: E402
from worker_processes import new_folder  # noqa: E402

PROGRAM = sys.argv.pop(1)
START = json.dumps({"type": "session.start"})


class Process:
    """One navtalk serve, in a state folder of its own."""

    def __init__(self, *arguments, folder=None, **environment):
        self.folder = folder or new_folder("navtalk-serve-")
        variables = {name: value for name, value in os.environ.items() if not name.startswith("NAVTALK_")}
        variables.update(environment, STATE_DIRECTORY=self.folder, OMP_WAIT_POLICY="passive")
        self.operator_key = environment.get("NAVTALK_OPERATOR_KEY")
        self.log = open(os.path.join(self.folder, "log"), "ab")
        self.process = subprocess.Popen(
            [PROGRAM, "--json", "serve", *arguments], stdout=subprocess.PIPE, stderr=self.log, env=variables
        )
        self.url = json.loads(self.process.stdout.readline())["url"]
        self.sockets = []

    def ask(self, method, path, body=None, **headers):
        data = None if body is None else json.dumps(body).encode()
        if body is not None:
            headers["Content-Type"] = "application/json"
        request = urllib.request.Request(self.url + path, data=data, method=method, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def errors(self):
        """What it has logged of errors, and whatever else says so."""
        with open(self.log.name, encoding="utf-8") as log:
            return [line for line in log if "error" in line]

    def pool(self):
        return json.loads(self.ask("GET", "/v1/pool", **self.as_operator())[1])

    def as_operator(self):
        key = self.operator_key or pathlib.Path(self.folder, "operator-key").read_text(encoding="ascii").strip()
        return {"Authorization": f"Bearer {key}"}

    def states(self):
        return sorted(gpu["state"] for gpu in self.pool()["gpus"])

    def connect(self, path="/v1/realtime", headers=()):
        url = self.url.replace("http", "ws") + path
        self.sockets.append(
            websocket.create_connection(url, timeout=PATIENCE_S, header=list(headers), suppress_origin=True)
        )
        return self.sockets[-1]

    def end(self, sign=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(sign)
        status = self.process.wait(PATIENCE_S)
        self.process.stdout.close()
        self.log.close()
        for socket in self.sockets:
            socket.shutdown()
        return status


def variables_of(pid):
    """The environment of a process as the system shows it."""
    entries = pathlib.Path(f"/proc/{pid}/environ").read_bytes().decode().split("\0")
    return dict(entry.partition("=")[::2] for entry in entries if entry)


def receive(socket, kind):
    while True:
        text = socket.recv()
        if isinstance(text, bytes) and text:
            continue  # pictures and sound
        if not text:
            raise AssertionError(f"the connection ended before {kind}")
        frame = json.loads(text)
        if frame["type"] == kind:
            return frame


def next_picture(socket):
    while True:
        frame = socket.recv()
        if isinstance(frame, bytes) and frame and frame[0] == 3:
            return frame
