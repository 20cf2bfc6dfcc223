"""usage: unlike_gateways_test.py NAVTALK FAKE_RUNPOD FAKE_WORKER   two navtalk serve of one host and store, set differently

Other avatars, other slots on a device, or no device at all: each leaves the workers of the other alone for as long as that one lives,
and replaces them when it is gone.
"""

import os
import signal
import sys
import time
import unittest

import needs_websocket  # noqa: F401

from user import Session
from world import FAILED, World

PROGRAMS = [sys.argv.pop(1) for _ in range(3)]
PATIENCE_S = 60
CALM_S = 90  # a reconciler looks once a minute while all is calm
LOCAL = 0  # of the codes of Source
NO_PODS = {"POOL_CLOUD": "off"}
BARE = {"LOCAL_DEVICES": "none"}


class UnlikeGateways(unittest.TestCase):
    def setUp(self):
        self.made = World(PROGRAMS, least=1, most=2, max_gpus=4, devices=["cpu"])
        self.addCleanup(self.made.close)
        avatars = self.made.folder / "avatars"
        avatars.mkdir()
        self.wide = {"LOCAL_SLOTS_PER_DEVICE": "2", "AVATARS_PATH": str(avatars)}

    def begin(self, **settings):
        self.first = self.made.start(**settings)
        self.made.wait("a local worker", lambda: self.local() and self.local()["state"] == 0)
        (self.worker,) = self.made.local_workers()
        self.row = self.local()["id"]

    def local(self):
        """The row of the device; None while there is none that lives."""
        rows = [gpu for gpu in self.made.gpus() if gpu["source"] == LOCAL and gpu["state"] != FAILED]
        self.assertLessEqual(len(rows), 1, rows)
        return rows[0] if rows else None

    def session(self, gateway):
        session = Session(gateway.url)
        self.assertTrue(session.wait_ready(PATIENCE_S), self.made.story())
        return session

    def on_the_device(self, gateway):
        """A session on the local worker, which comes first while its slot is free."""
        before = self.local()["sessions"]
        session = self.session(gateway)
        self.assertEqual(self.local()["sessions"], before + 1)
        return session

    def places(self):
        return [(session["gpu"], session["slot"]) for session in self.made.sessions()]

    def goes_on(self, session, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            frame = session.receive(max(0.001, end - time.monotonic()))
            self.assertIsNone(frame, self.made.story())

    def replaced(self, slots):
        """Waits until another worker has taken the place of the first one."""
        self.made.wait("another row", lambda: (self.local() or {}).get("id", self.row) != self.row, CALM_S)
        self.made.wait("it is idle", lambda: (self.local() or {}).get("state") == 0, CALM_S)
        self.assertEqual(self.local()["slots"], slots)
        (worker,) = self.made.local_workers()
        self.assertNotEqual(worker, self.worker)

    def in_order(self):
        self.made.settled()
        self.assertEqual(self.made.leased_twice(), [])
        self.assertEqual(self.made.unrecorded(), [])

    def test_both_serve_and_neither_touches_the_others_workers(self):
        self.begin()
        for settings in (self.wide, BARE, self.wide):
            second = self.made.start(**settings)  # looks at every worker of this host as it starts
            sessions = [self.session(gateway) for gateway in (self.first, second, self.first)]
            self.assertEqual(len(set(self.places())), 3)
            for session in sessions:
                self.goes_on(session, 1)
            self.assertEqual(self.made.local_workers(), [self.worker])
            self.assertEqual((self.local()["slots"], self.local()["draining"]), (1, 0))
            for session in sessions:
                session.leave()
            self.made.gateways.remove(second)
            self.assertEqual(second.end(signal.SIGTERM), 143)
        self.assertEqual(self.made.local_workers(), [self.worker])
        self.in_order()

    def test_a_worker_that_dies_is_replaced_by_the_one_that_offers_its_device(self):
        self.begin(**NO_PODS)
        bare = self.made.start(**BARE, **NO_PODS)
        os.kill(self.worker, signal.SIGKILL)
        self.replaced(slots=1)
        (worker,) = self.made.local_workers()
        self.made.kill(bare)
        self.on_the_device(self.first).leave()
        self.assertEqual(self.made.local_workers(), [worker])
        self.in_order()

    def test_after_a_stop_the_other_replaces_the_worker_when_its_sessions_have_ended(self):
        self.begin(**NO_PODS)
        wide = self.made.start(**self.wide, **NO_PODS)
        kept = self.on_the_device(wide)
        waiting = Session(self.first.url)
        self.assertEqual(waiting.receive(PATIENCE_S)["type"], "queue.update")
        self.made.gateways.remove(self.first)
        self.assertEqual(self.first.end(signal.SIGTERM), 143)
        while (frame := waiting.receive(PATIENCE_S))["type"] == "queue.update":
            pass
        self.assertEqual((frame["type"], frame.get("code")), ("error", "draining"))

        def drains():
            self.goes_on(kept, 0.1)  # who does not answer pings has left
            return self.local()["draining"]

        took = self.made.wait("it drains", drains, CALM_S)
        print(f"drained {took:.1f} s after the stop")
        self.assertEqual(self.made.local_workers(), [self.worker])
        self.goes_on(kept, 1)
        kept.leave()
        self.replaced(slots=2)
        sessions = [self.on_the_device(wide), self.on_the_device(wide)]
        self.assertEqual(len(set(self.places())), 2)
        for session in sessions:
            session.leave()
        self.in_order()

    def test_after_a_kill_the_one_without_devices_ends_the_worker_and_serves_on_pods(self):
        self.begin()
        bare = self.made.start(**BARE)
        self.on_the_device(self.first)
        self.made.kill(self.first)
        took = self.made.wait("worker and row end", lambda: not self.made.local_workers() and not self.local(), CALM_S)
        print(f"gone {took:.1f} s after the kill")
        session = self.session(bare)
        session.leave()
        self.in_order()
        self.assertIsNone(self.local())


if __name__ == "__main__":
    unittest.main(verbosity=2)
