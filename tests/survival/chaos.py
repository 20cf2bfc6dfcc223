"""Kills gateways and workers, stops them for a while, and lets the cloud misbehave, at random moments."""

import os
import signal
import time

# A create that hangs ends with its gateway; what the account is refused for would pause creation for minutes.
CREATE_FAULTS = [
    {"name": "server-error"},
    {"name": "done-but-500"},
    {"name": "done-but-reset"},
    {"name": "done-but-silent"},
    {"name": "silent"},
    {"name": "garbage"},
    {"name": "rate-limited"},
    {"status": 0, "delay_ms": 1500},
]
OTHER_FAULTS = [{"name": name} for name in ("server-error", "garbage", "reset", "rate-limited", "done-but-500")]
LIVES = [{"twice": True}, {"hidden_ms": 1200}, {"healthy_after_ms": 1000}, {"exits_after_ms": 3000}, {"odd_form": True}]
USUAL_LIFE = {"twice": False, "hidden_ms": 0, "healthy_after_ms": 0, "exits_after_ms": None, "odd_form": False}


class Chaos:
    def __init__(self, world, rng, pause_s=(0.1, 0.9)):
        self.world, self.rng, self.pause_s = world, rng, pause_s
        self.gateway = None
        self.stopped = {}  # workers by process id, and when they go on
        self.done = {}
        self.weights = {
            self.kill_gateway: 5,
            self.kill_worker: 2,
            self.stop_worker: 2,
            self.fault_create: 3,
            self.fault_another: 2,
            self.shorten_lists: 2,
            self.change_life: 2,
        }

    def some_url(self):
        living = self.world.alive()
        return self.rng.choice(living).url if living else None

    def run(self, seconds):
        """At the end nothing misbehaves any more, and a fresh gateway runs."""
        end = time.monotonic() + seconds
        if self.gateway is None:
            self.gateway = self.world.start(wait=False)
        while time.monotonic() < end:
            time.sleep(self.rng.uniform(*self.pause_s))
            self.resume(time.monotonic())
            (action,) = self.rng.choices(list(self.weights), self.weights.values())
            if action():
                self.done[action.__name__] = self.done.get(action.__name__, 0) + 1
        self.calm()

    def calm(self):
        self.resume(float("inf"))
        self.world.cloud.script("calm")
        self.kill_gateway()
        self.gateway.started()

    def kill_gateway(self):
        self.world.kill(self.gateway)
        time.sleep(self.rng.choice([0, 0, 0.3, 1]))
        self.gateway = self.world.start(wait=False)
        return True

    def some_worker(self):
        pids = [pod["pid"] for pod in self.world.cloud.pods() if pod["pid"] and pod["pid"] not in self.stopped]
        return self.rng.choice(pids) if pids else None

    def signal(self, pid, number):
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass  # its pod was destroyed meanwhile

    def kill_worker(self):
        pid = self.some_worker()
        if pid:
            self.signal(pid, signal.SIGKILL)
        return pid

    def stop_worker(self):
        pid = self.some_worker()
        if pid:
            self.signal(pid, signal.SIGSTOP)
            self.stopped[pid] = time.monotonic() + self.rng.uniform(0.5, 6)
        return pid

    def resume(self, now):
        for pid in [pid for pid, until in self.stopped.items() if until <= now]:
            self.signal(pid, signal.SIGCONT)
            del self.stopped[pid]

    def fault_create(self):
        self.world.cloud.fault(call="create", **self.rng.choice(CREATE_FAULTS))
        return True

    def fault_another(self):
        call = self.rng.choice(["list", "delete", "get", "catalog"])
        self.world.cloud.fault(call=call, times=self.rng.randint(1, 3), **self.rng.choice(OTHER_FAULTS))
        return True

    def shorten_lists(self):
        """For a while lists succeed and lack every pod."""
        self.world.cloud.fault(call="list", name="short-list", times=self.rng.randint(1, 6))
        return True

    def change_life(self):
        self.world.cloud.script("life", USUAL_LIFE)
        if self.rng.random() < 0.6:
            self.world.cloud.script("life", self.rng.choice(LIVES))
        return True
