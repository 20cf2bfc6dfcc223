"""usage: two_gateways_test.py NAVTALK FAKE_RUNPOD FAKE_WORKER   two navtalk serve on one PostgreSQL

Users at both, one scaler, one of them killed or stopped, and a server that goes and comes.
"""

import signal
import sys
import time
import unittest

import needs_websocket  # noqa: F401

from stores import Postgres
from user import Session
from world import IDLE, RUNNING, World, process_of

if not Postgres.programs():
    print("skipped: PostgreSQL is not installed")
    sys.exit(0)

PROGRAMS = [sys.argv.pop(1) for _ in range(3)]
PATIENCE_S = 60
LEASE_S = 4


class TwoGateways(unittest.TestCase):
    def setUp(self):
        self.made = World(PROGRAMS, store=Postgres(), least=3, most=3, max_gpus=3, lease_s=LEASE_S)
        self.addCleanup(self.made.close)
        self.gateways = [self.made.start(), self.made.start()]
        self.made.wait("three GPUs", lambda: self.count(IDLE) == 3)

    def count(self, state):
        return sum(gpu["state"] == state for gpu in self.made.gpus())

    def users(self, count):
        """That many sessions, by turns at both gateways, each in the queue or served before the next comes."""
        sessions = []
        for number in range(count):
            session = Session(self.gateways[number % 2].url)
            frame = session.receive(PATIENCE_S)
            self.assertIn(frame["type"], ("queue.update", "session.ready"))
            sessions.append(session)
        return sessions

    def place(self, session):
        return (session.ready["worker"], session.ready["slot"])

    def leader(self):
        (scaler,) = self.made.store.rows("SELECT owner FROM scaler")
        pid = int(process_of(scaler["owner"]))
        return next(gateway for gateway in self.gateways if gateway.pid == pid)

    def other(self, gateway):
        return self.gateways[1 - self.gateways.index(gateway)]

    def goes_on(self, session, seconds=0.5):
        """No end, no error meanwhile."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            frame = session.receive(end - time.monotonic())
            self.assertIn((frame or {}).get("type"), (None, "session.ready", "queue.update"), frame)

    def test_a_slot_is_given_once_and_the_queue_is_one(self):
        sessions = self.users(7)
        served, waiting = sessions[:3], sessions[3:]
        for session in served:
            self.assertIsNotNone(session.ready)
        self.assertEqual(len({self.place(session) for session in served}), 3)
        self.assertEqual([session.positions[-1] for session in waiting], [1, 2, 3, 4])
        for leaver, next_one in zip(served, waiting):
            place = self.place(leaver)
            leaver.leave()
            self.assertTrue(next_one.wait_ready(PATIENCE_S))
            self.assertEqual(self.place(next_one), place)
        last = waiting[-1]
        while last.positions[-1] != 1:
            self.assertEqual(last.receive(PATIENCE_S)["type"], "queue.update")
        self.assertEqual(last.positions, sorted(last.positions, reverse=True))
        self.assertEqual(self.made.leased_twice(), [])

    def test_one_decides_and_the_other_takes_over_when_it_is_killed(self):
        sessions = self.users(2)
        for session in sessions:
            self.assertTrue(session.ready or session.wait_ready(PATIENCE_S))
        leader = self.leader()
        other = self.other(leader)
        kept = sessions[self.gateways.index(other)]
        before = len(self.made.cloud.calls("create"))
        self.made.kill(leader)
        took = self.made.wait("the other decides", lambda: self.leader() is other)
        print(f"the other decides after {took:.1f} s")
        print(f"in order after {self.made.reconciled():.1f} s")
        self.made.wait("the dead one's slot is free", lambda: self.count(RUNNING) == 1)
        idle = next(gpu for gpu in self.made.gpus() if gpu["state"] == IDLE)
        self.assertEqual(other.ask("DELETE", f"/v1/pool/gpus/{idle['id']}")[0], 202)
        self.made.wait("a replacement", lambda: len(self.made.cloud.calls("create")) == before + 1)
        self.made.wait("three GPUs", lambda: self.count(IDLE) == 2 and self.count(RUNNING) == 1)
        self.goes_on(kept)
        self.assertEqual(self.made.unrecorded(), [])
        self.assertEqual(self.made.leased_twice(), [])

    def test_one_that_is_stopped_past_its_leases_gives_its_slots_to_the_others_waiters(self):
        sessions = self.users(4)
        late, other = self.gateways
        waiting = sessions[3]  # at the other
        held_by_late = [self.place(sessions[0]), self.place(sessions[2])]
        late.pause()
        self.assertTrue(waiting.wait_ready(PATIENCE_S))
        self.assertIn(self.place(waiting), held_by_late)
        self.made.wait("the other lease is over, too", lambda: self.count(RUNNING) == 2)
        late.resume()
        lost = [session.receive(PATIENCE_S) for session in (sessions[0], sessions[2])]
        self.assertEqual({frame["type"] for frame in lost}, {"error"})
        self.assertLessEqual({frame["code"] for frame in lost}, {"lease_lost", "worker_lost"})
        self.goes_on(waiting)
        self.goes_on(sessions[1])
        self.assertEqual(self.made.leased_twice(), [])
        self.assertEqual(self.count(IDLE) + self.count(RUNNING), 3)

    def test_a_database_that_goes_and_comes_ends_no_session(self):
        sessions = self.users(5)
        for sign, away_s in ((signal.SIGINT, LEASE_S + 2), (signal.SIGQUIT, 0)):
            self.made.store.stop(sign)
            away = time.monotonic()
            for gateway in self.gateways:
                self.made.wait("not ready", lambda: gateway.ask("GET", "/readyz")[0] == 503)
                self.assertEqual(gateway.ask("GET", "/healthz")[0], 200)
            while time.monotonic() < away + away_s:  # longer than the leases, the first time
                for session in sessions:
                    self.goes_on(session, 0.2)
            self.made.store.start()
            for gateway in self.gateways:
                took = self.made.wait("ready", lambda: gateway.ask("GET", "/readyz")[0] == 200)
                print(f"ready {took:.1f} s after the database")
            for session in sessions:
                self.goes_on(session)
            # A crash of the server may take claims back, and then their sessions end; none was so young here.
            self.made.wait("all leases stand", lambda: len(self.made.sessions()) == 3)
        sessions[0].leave()
        self.assertTrue(sessions[3].wait_ready(PATIENCE_S))
        self.assertEqual(self.made.leased_twice(), [])
        for session in sessions[1:]:
            session.leave()
        self.made.settled()


if __name__ == "__main__":
    unittest.main(verbosity=2)
