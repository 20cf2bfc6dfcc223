"""usage: local_kill_test.py NAVTALK FAKE_RUNPOD FAKE_WORKER   killed gateways, and killed local workers, which are real

A gateway is killed while its worker starts, when it runs, and in a session: the next one takes the worker over, and there is
never a second one. NAVTALK_SURVIVAL_SEED chooses the moments.
"""

import os
import random
import signal
import sys
import time
import unittest

import needs_websocket  # noqa: F401

from user import Session
from world import PAUSED, RUNNING, World

PROGRAMS = [sys.argv.pop(1) for _ in range(3)]
PATIENCE_S = 60


class LocalKills(unittest.TestCase):
    def setUp(self):
        self.made = World(PROGRAMS, least=1, most=1, max_gpus=1, devices=["cpu"])
        self.addCleanup(self.made.close)
        self.rng = random.Random(os.environ.get("NAVTALK_SURVIVAL_SEED", "1"))

    def session(self, gateway):
        session = Session(gateway.url)
        self.assertTrue(session.wait_ready(PATIENCE_S), self.made.story())
        return session

    def test_a_worker_outlives_its_gateways_and_stays_the_only_one(self):
        seen = set()
        for _ in range(6):
            gateway = self.made.start(wait=False)
            until = time.monotonic() + self.rng.uniform(0.2, 1.6)
            while time.monotonic() < until:
                workers = self.made.local_workers()
                self.assertLessEqual(len(workers), 1)
                seen.update(workers)
                time.sleep(0.02)
            self.made.kill(gateway)
        gateway = self.made.start()
        session = self.session(gateway)
        (worker,) = self.made.local_workers()
        self.assertLessEqual(seen, {worker})
        self.made.kill(gateway)
        self.assertEqual(session.receive(PATIENCE_S)["type"], "closed")
        gateway = self.made.start()
        print(f"in order after {self.made.reconciled():.1f} s")
        self.session(gateway).leave()
        self.assertEqual(self.made.local_workers(), [worker])
        self.made.settled()

    def test_a_drained_worker_gives_its_device_free_until_that_is_undone(self):
        gateway = self.made.start(POOL_CLOUD="off")
        session = self.session(gateway)
        (row,), (worker,) = self.made.gpus(), self.made.local_workers()
        self.made.json("pool", "drain", row["id"])
        self.assertEqual(session.receive(PATIENCE_S)["type"], "session.draining")
        self.assertIsNone(session.receive(2))  # two ticks
        self.assertEqual(self.made.gpus()[0]["state"], RUNNING)
        session.leave()
        self.made.wait("it is paused", lambda: self.made.gpus()[0]["state"] == PAUSED)
        waiting = Session(gateway.url)
        self.assertFalse(waiting.wait_ready(2))
        self.assertEqual(self.made.gpus()[0]["state"], PAUSED)
        self.assertEqual(self.made.local_workers(), [worker])
        self.made.json("pool", "drain", "--undo", row["id"])
        self.assertTrue(waiting.wait_ready(PATIENCE_S), self.made.story())
        waiting.leave()
        self.assertEqual(self.made.local_workers(), [worker])
        self.made.settled()

    def test_a_worker_of_another_configuration_is_replaced_when_its_session_has_ended(self):
        gateway = self.made.start()
        self.session(gateway).leave()
        (worker,) = self.made.local_workers()
        self.made.kill(gateway)
        with self.made.config.open("a") as config:
            config.write("[avatars]\npath = \"elsewhere\"\n")
        gateway = self.made.start()
        session = self.session(gateway)
        until = time.monotonic() + PATIENCE_S
        while not self.made.gpus()[0]["draining"]:
            self.assertLess(time.monotonic(), until, self.made.story())
            time.sleep(0.1)
        self.assertEqual(self.made.local_workers(), [worker])
        session.leave()
        while self.made.local_workers() in ([], [worker]):
            self.assertLess(time.monotonic(), until, self.made.story())
            time.sleep(0.1)
        self.session(gateway).leave()
        self.made.settled()

    def test_a_worker_that_dies_with_its_gateway_is_replaced(self):
        gateway = self.made.start()
        session = self.session(gateway)
        (worker,) = self.made.local_workers()
        gateway.pause()
        os.kill(worker, signal.SIGKILL)
        self.made.kill(gateway)
        session.drop()
        gateway = self.made.start()
        self.session(gateway).leave()
        self.assertNotEqual(self.made.local_workers(), [worker])
        print(f"in order after {self.made.reconciled():.1f} s")
        self.made.settled()


class WorkerKills(unittest.TestCase):
    """Far sooner than the hold of failed GPUs is over, and never two workers at once."""

    def setUp(self):
        self.made = World(PROGRAMS, least=1, most=1, max_gpus=1, failed_hold_s=600, devices=["cpu"])
        self.addCleanup(self.made.close)

    def changed(self, session):
        """The frame of the change, and the ETAs that the user was told meanwhile."""
        etas, until = [], time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            self.assertLessEqual(len(self.made.local_workers()), 1)
            frame = session.receive(0.1)
            if frame and frame["type"] == "queue.update":
                etas.append(frame["eta_s"])
            elif frame:
                self.assertEqual(frame["type"], "worker.changed", self.made.story())
                return frame, etas
        self.fail(self.made.story())

    def test_a_killed_worker_is_replaced_on_its_device_and_its_user_goes_on(self):
        gateway = self.made.start(POOL_CLOUD="off")
        session = Session(gateway.url)
        self.assertTrue(session.wait_ready(PATIENCE_S), self.made.story())
        for _ in range(2):
            (worker,) = self.made.local_workers()
            os.kill(worker, signal.SIGKILL)
            frame, etas = self.changed(session)
            print(f"another worker after {frame['gap_s']} s; told {etas}")
            self.assertNotIn(0, etas[:1])
            self.assertNotEqual(self.made.local_workers(), [worker])
        session.leave()
        self.made.settled()


if __name__ == "__main__":
    unittest.main(verbosity=2)
