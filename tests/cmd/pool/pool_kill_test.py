"""usage: pool_kill_test.py NAVTALK FAKE_RUNPOD   kills the scaler between its steps, and restarts it

After every kill: each pod of the fake has its row, each row with an id its pod, the ledger covers every pod that was ever
paid for, and nothing is created twice.
"""

import contextlib
import json
import os
import signal
import sqlite3
import sys
import tempfile
import time
import unittest

from cloud_pool import Pool, killed_after, paid_pods

NAVTALK, FAKE_RUNPOD = sys.argv.pop(1), sys.argv.pop(1)


class Kills(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def pool(self, *fake_arguments):
        pool = Pool(NAVTALK, FAKE_RUNPOD, self.folder, *fake_arguments)
        self.addCleanup(pool.close)
        return pool

    def settle(self, pool):
        """Runs the scaler until one pod serves one idle row, and nothing else is left."""

        def settled():
            rows, pods = pool.rows(), pool.pods()
            return len(rows) == 1 and len(pods) == 1 and rows[0]["state"] == "idle" and rows[0]

        with killed_after(pool.start()):
            row = pool.wait("one idle GPU", settled)
        pod = pool.pods()[0]
        self.assertEqual(row["provider_id"], pod["id"])
        self.assertEqual(row["name"], pod["name"])
        self.check_ledger(pool)

    def check_ledger(self, pool):
        """Every pod that ever was stands in the ledger."""
        ever = {pod["id"] for pod in pool.script("/pods")["pods"]}
        self.assertEqual(ever - paid_pods(pool), set())

    def test_killed_while_the_create_is_on_its_way(self):
        pool = self.pool("--fault", json.dumps({"call": "create", "how": "hang"}))
        with killed_after(pool.start()):
            pool.wait("the create", pool.creates)
        self.assertEqual(pool.pods(), [])
        self.settle(pool)
        self.assertEqual(len(pool.creates()), 2)

    def test_killed_when_the_pod_is_made_and_the_answer_is_not_there(self):
        pool = self.pool("--fault", json.dumps({"call": "create", "how": "hang", "acts": True}))
        with killed_after(pool.start()):
            pool.wait("the pod", pool.pods)
        self.settle(pool)
        self.assertEqual(len(pool.creates()), 1)

    def test_killed_between_the_answer_and_its_record(self):
        pool = self.pool("--fault", json.dumps({"call": "create", "status": 0, "acts": True, "delay_ms": 1500}))
        with killed_after(pool.start()):
            pool.wait("the create", pool.creates)
            # Nobody can write any more: the answer comes and cannot be recorded.
            database = sqlite3.connect(pool.database, isolation_level=None, timeout=10)
            database.execute("BEGIN IMMEDIATE")
            pool.wait("the pod", pool.pods)
            time.sleep(0.3)
        database.execute("ROLLBACK")
        database.close()
        self.settle(pool)
        self.assertEqual(len(pool.creates()), 1)

    def test_killed_before_the_pod_is_proven_ready(self):
        pool = self.pool("--life", json.dumps({"healthy_after": 3000}))
        with killed_after(pool.start()):
            pool.wait("its id", lambda: [row for row in pool.rows() if row["provider_id"]])
        self.settle(pool)
        self.assertEqual(len(pool.creates()), 1)

    def test_killed_while_it_destroys(self):
        pool = self.pool()
        self.settle(pool)
        pool.script("/faults", {"call": "delete", "how": "hang"})
        gpu = pool.rows()[0]["id"]
        pool.json("pool", "remove", gpu)
        with killed_after(pool.start()):
            pool.wait("the delete", lambda: [c for c in pool.script("/requests")["requests"] if c["call"] == "delete"])
        self.settle(pool)
        self.assertNotEqual(pool.rows()[0]["id"], gpu)

    def test_killed_at_any_time(self):
        pool = self.pool("--life", json.dumps({"starting_after": 100, "running_after": 200, "healthy_after": 100}))
        for step in range(12):
            process = pool.start()
            time.sleep(0.05 + step * 0.11)
            process.kill()
            process.wait()
            if step % 4 == 3:  # something to do for the next ones
                for row in pool.rows():
                    if row["state"] == "idle":
                        pool.json("pool", "remove", row["id"])
        self.settle(pool)

    def test_stopped_past_its_lease_it_changes_nothing_when_it_goes_on(self):
        pool = self.pool("--fault", json.dumps({"call": "create", "status": 0, "acts": True, "delay_ms": 500}))
        with killed_after(pool.start()) as late:
            pool.wait("the create", pool.creates)
            late.send_signal(signal.SIGSTOP)
            pool.wait("the pod", pool.pods)
            # Its lease is written as over, which is what waiting would do.
            with contextlib.closing(sqlite3.connect(pool.database)) as database, database:
                database.execute("UPDATE gpus SET intent_until = 0")
                database.execute("UPDATE scaler SET until = 0")
            self.settle(pool)
            late.send_signal(signal.SIGCONT)
            time.sleep(2)
            self.assertEqual(len(pool.pods()), 1)
            self.assertEqual([row["provider_id"] for row in pool.rows()], [pool.pods()[0]["id"]])
        self.assertEqual(len(pool.creates()), 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
