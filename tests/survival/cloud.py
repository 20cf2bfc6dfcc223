"""The fake Runpod (tests/fakes/runpod/runpod_program.cpp) as a process, with a worker process in each pod."""

import json
import os
import signal
import subprocess
import urllib.request


class Cloud:
    """`journal`: where the pods' workers write down their sessions."""

    def __init__(self, fake_runpod, fake_worker, journal):
        environment = {**os.environ, "NAVTALK_FAKE_WORKER": json.dumps({"journal": str(journal)})}
        self.process = subprocess.Popen(
            [fake_runpod, "--until-eof", "--worker", fake_worker],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        self.place = json.loads(self.process.stdout.readline())

    def close(self):
        self.resume()
        self.process.stdin.close()
        self.process.wait(30)
        self.process.stdout.close()

    def pause(self):
        self.process.send_signal(signal.SIGSTOP)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def script(self, what, body=None):
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(f"{self.place['fake_url']}/{what}", data, timeout=60) as answer:
            return json.loads(answer.read())

    def fault(self, **fault):
        self.script("faults", fault)

    def life(self, **life):
        self.script("life", life)

    def tell_worker(self, pod, **script):
        """To the worker in a pod, through the pod's proxy."""
        url = self.place["proxy_url"].replace("{pod}", pod) + "/fake"
        with urllib.request.urlopen(url, json.dumps(script).encode(), timeout=60) as answer:
            answer.read()

    def pods_ever(self):
        return self.script("pods")["pods"]

    def pods(self):
        return [pod for pod in self.pods_ever() if pod["removed_ms"] is None]

    def calls(self, name):
        return [call for call in self.script("requests")["requests"] if call["call"] == name]
