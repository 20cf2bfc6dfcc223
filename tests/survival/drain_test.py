"""usage: drain_test.py NAVTALK FAKE_RUNPOD FAKE_WORKER   SIGTERM and `pool drain`, and their notices

Who is served goes on until the session or the notice ends: nobody else gets the slot, and the pod stays.
"""

import signal
import sys
import time
import unittest

import needs_websocket  # noqa: F401

from user import Session
from world import World

PROGRAMS = [sys.argv.pop(1) for _ in range(3)]
PATIENCE_S = 60
LEASE_S = 3
NOTICE_S = 600


class Drain(unittest.TestCase):
    def setUp(self):
        self.made = World(PROGRAMS, least=1, most=1, max_gpus=1, lease_s=LEASE_S)
        self.addCleanup(self.made.close)
        self.leaving = self.made.start(drain_s=NOTICE_S)
        self.user = Session(self.leaving.url)
        self.assertTrue(self.user.wait_ready(PATIENCE_S), self.made.story())
        (self.session,) = self.made.sessions()

    def drain(self):
        self.leaving.process.send_signal(signal.SIGTERM)
        told = self.user.receive(PATIENCE_S)
        self.assertEqual((told["type"], told["notice_s"]), ("session.draining", NOTICE_S))
        self.assertEqual(told["resume_token"], self.user.ready["resume_token"])

    def goes_on(self, seconds):
        """The same lease on the same pod all the time, and not a word to the user."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.assertIsNone(self.user.receive(0.2), self.made.story())
            self.assertEqual([row["lease"] for row in self.made.sessions()], [self.session["lease"]])
            self.assertEqual([row["id"] for row in self.made.gpus()], [self.session["gpu"]])
        self.assertEqual(self.made.cloud.calls("delete"), [])
        self.assertIsNone(self.leaving.process.poll())

    def ends(self):
        self.user.leave()
        self.assertEqual(self.leaving.process.wait(PATIENCE_S), 128 + signal.SIGTERM)

    def test_a_session_goes_on_past_its_first_lease(self):
        self.drain()
        self.goes_on(4 * LEASE_S)
        self.ends()
        self.assertEqual(self.made.sessions(), [])

    def test_the_slot_goes_to_another_gateways_user_only_when_the_session_is_over(self):
        other = self.made.start()
        waiting = Session(other.url)
        self.assertEqual(waiting.receive(PATIENCE_S)["type"], "queue.update")
        self.drain()
        self.goes_on(4 * LEASE_S)
        self.assertIsNone(waiting.ready)
        self.ends()
        self.assertTrue(waiting.wait_ready(PATIENCE_S))
        self.assertEqual(self.made.leased_twice(), [])

    def test_a_drained_gpu_ends_its_session_when_the_notice_is_over(self):
        self.made.json("pool", "drain", "--notice-s", "3", self.session["gpu"])
        told = self.user.receive(PATIENCE_S)
        self.assertEqual(told["type"], "session.draining")
        self.assertLessEqual(told["notice_s"], 3)
        self.assertEqual(self.user.receive(PATIENCE_S)["code"], "drained")
        self.assertEqual(self.user.receive(PATIENCE_S)["type"], "closed")
        self.made.wait("the slot is free", lambda: not self.made.sessions())
        # Whoever comes waits for another GPU.
        self.assertNotEqual(self.made.gpus()[0]["draining"], 0)

    def test_a_drain_that_is_undone_ends_no_session(self):
        self.made.json("pool", "drain", "--notice-s", "10", self.session["gpu"])
        self.assertEqual(self.user.receive(PATIENCE_S)["type"], "session.draining")
        self.made.json("pool", "drain", "--undo", self.session["gpu"])
        self.assertEqual(self.user.receive(PATIENCE_S)["type"], "session.undrained")
        self.goes_on(12)
        self.user.leave()


if __name__ == "__main__":
    unittest.main(verbosity=2)
