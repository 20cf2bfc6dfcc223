"""usage: outage_test.py NAVTALK FAKE_RUNPOD FAKE_WORKER WALL_CLOCK   what navtalk serve outlives without a restart

The database locked for longer than anybody waits for it, and a wall clock that jumps.
"""

import os
import pathlib
import struct
import sys
import time
import unittest

import needs_websocket  # noqa: F401

from user import Session
from world import IDLE, World

PROGRAMS = [sys.argv.pop(1) for _ in range(3)]
WALL_CLOCK = sys.argv.pop(1)
PATIENCE_S = 60
LEASE_S = 3
HOUR_S = 3600


class Outages(unittest.TestCase):
    def world(self, **environment):
        self.made = World(PROGRAMS, least=2, most=2, max_gpus=2, lease_s=LEASE_S)
        self.addCleanup(self.made.close)
        self.made.environment.update(environment)
        self.gateway = self.made.start()
        self.made.wait("two GPUs", lambda: sum(gpu["state"] == IDLE for gpu in self.made.gpus()) == 2)

    def users(self):
        """Two sessions, and one that waits."""
        sessions = [Session(self.gateway.url) for _ in range(2)]
        for session in sessions:
            self.assertTrue(session.wait_ready(PATIENCE_S))
        waiting = Session(self.gateway.url)
        self.assertEqual(waiting.receive(PATIENCE_S)["type"], "queue.update")
        return sessions, waiting

    def readiness(self):
        return self.gateway.ask("GET", "/readyz")

    def go_on(self, sessions, seconds):
        """No end and no error meanwhile."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for session in sessions:
                frame = session.receive(0.1)
                self.assertIn((frame or {}).get("type"), (None, "queue.update"), frame)

    def test_a_database_that_stays_locked_ends_nothing_and_says_so(self):
        self.world()
        sessions, waiting = self.users()
        self.made.wait("ready", lambda: self.readiness()[0] == 200)
        with self.made.store.locked():
            start = time.monotonic()
            self.made.wait("not ready", lambda: self.readiness()[0] == 503)
            self.assertIn("locked", self.readiness()[1])
            self.assertEqual(self.gateway.ask("GET", "/healthz")[0], 200)
            self.go_on([*sessions, waiting], max(0, start + 3 * LEASE_S - time.monotonic()))
        took = self.made.wait("ready", lambda: self.readiness()[0] == 200)
        print(f"ready {took:.1f} s after the lock")
        self.go_on([*sessions, waiting], LEASE_S + 1)
        sessions[0].leave()
        self.assertTrue(waiting.wait_ready(PATIENCE_S))
        for session in (sessions[1], waiting):
            session.leave()
        self.made.settled()
        self.assertEqual(self.made.leased_twice(), [])

    def test_a_wall_clock_that_jumps_moves_nothing(self):
        clock = pathlib.Path(os.environ.get("TMPDIR", "/tmp")) / f"wall-clock-{os.getpid()}"
        self.addCleanup(clock.unlink)
        clock.write_bytes(struct.pack("=q", 0))
        self.world(LD_PRELOAD=WALL_CLOCK, WALL_CLOCK_SHIFT=str(clock))
        sessions, waiting = self.users()
        events = len(self.made.store.rows("SELECT * FROM events"))
        for jump in (HOUR_S, -HOUR_S, 400 * 24 * HOUR_S):
            with open(clock, "r+b") as file:
                file.write(struct.pack("=q", jump))
            self.go_on([*sessions, waiting], LEASE_S)
        self.assertEqual(self.readiness()[0], 200)
        self.assertEqual(len(self.made.store.rows("SELECT * FROM events")), events, self.made.story())
        with open(clock, "r+b") as file:
            file.write(struct.pack("=q", HOUR_S))
        sessions[0].leave()
        self.assertTrue(waiting.wait_ready(PATIENCE_S))
        # The jump was seen: people read the wall clock.
        (last,) = self.made.store.rows("SELECT MAX(at) AS at FROM events")
        self.assertGreater(last["at"] / 1e6, time.time() + HOUR_S / 2)
        for session in (sessions[1], waiting):
            session.leave()
        self.made.settled()


if __name__ == "__main__":
    unittest.main(verbosity=2)
