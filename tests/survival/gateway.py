"""navtalk serve as a process that can be killed, stopped and started again."""

import json
import os
import select
import signal
import subprocess
import threading
import urllib.error
import urllib.request

PATIENCE_S = 60


class Gateway:
    def __init__(self, command, environment, log):
        self.log = open(log, "ab")
        self.headers = {"Authorization": f"Bearer {environment['NAVTALK_OPERATOR_KEY']}"}
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.log, env=environment)
        self.url = None
        self.reading = threading.Lock()
        self.paused = False

    def started(self, patience_s=PATIENCE_S):
        """Its address; None when it has not told one, or ended before."""
        with self.reading:
            if self.url is None and not self.process.stdout.closed:
                ready, _, _ = select.select([self.process.stdout], [], [], patience_s)
                line = self.process.stdout.readline() if ready else b""
                self.url = json.loads(line)["url"] if line else None
        return self.url

    @property
    def pid(self):
        return self.process.pid

    def alive(self):
        return self.process.poll() is None and not self.paused

    def ask(self, method, path, timeout_s=PATIENCE_S):
        request = urllib.request.Request(self.url + path, method=method, headers=self.headers)
        try:
            with urllib.request.urlopen(request, timeout=timeout_s) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError as error:
            return 0, str(error)

    def pause(self):
        self.paused = True
        self.process.send_signal(signal.SIGSTOP)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)
        self.paused = False

    def end(self, sign=signal.SIGKILL):
        if self.process.poll() is None:
            self.process.send_signal(sign)
            self.process.send_signal(signal.SIGCONT)
        status = self.process.wait(PATIENCE_S)
        with self.reading:
            self.process.stdout.close()
        self.log.close()
        return status


def environment_of(folder, **more):
    variables = {name: value for name, value in os.environ.items() if not name.startswith("NAVTALK_")}
    variables.update(more, STATE_DIRECTORY=str(folder), OMP_WAIT_POLICY="passive")
    variables.setdefault("NAVTALK_OPERATOR_KEY", "a-key-of-these-tests")
    return variables
