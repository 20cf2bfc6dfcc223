"""usage: faults_test.py NAVTALK FAKE_WORKER   every misbehaviour of the API server leaves one pod for one row"""

import contextlib
import unittest

from pool_case import PoolCase

import faults

# Creation pauses for longer than a test until a person has acted.
ASKS_A_PERSON = {"bad-key", "forbidden"}
SLOW = {"silent", "done-but-silent"}  # until navtalk's own time is over


class Faults(PoolCase):
    def spanned(self):
        return {span.rsplit("/", 1)[1] for span in self.pool.spans() if span.startswith("kubernetes/")}

    def leave(self):
        self.pool.configure(pods=0)
        with self.pool.scaling():
            self.wait("an empty cluster", lambda: not self.cluster.living() and not self.pool.rows())
        self.assertEqual(self.spanned(), set(self.cluster.ever))
        self.assertEqual(self.cluster.faults, [], "a fault that no call met")
        # No row went before its pod.
        self.assertNotIn("an orphan was adopted", (self.pool.folder / "log").read_text())

    @contextlib.contextmanager
    def alone(self, fault):
        """A cluster and a pool for one fault, whose name a failure tells."""
        with self.subTest(fault=fault):
            self.doCleanups()
            self.setUp()
            yield

    def test_at_the_create(self):
        for name in sorted(faults.NAMED.keys() - ASKS_A_PERSON - {"empty-list", "short-list"}):
            with self.alone(name):
                self.cluster.fault("create", name)
                self.settle()
                self.leave()

    def test_at_the_list(self):
        self.pool.configure(pods=2)
        self.settle(2)
        with self.pool.scaling():
            for name in sorted(faults.NAMED.keys() - SLOW - {"conflict", "unprocessable", "broken-rule"}):
                self.cluster.fault("list", name, times=2)
                self.wait(f"both answers of {name}", lambda: not self.cluster.faults)
        self.settle(2)
        self.assertEqual(len(self.cluster.ever), 2, "a pod was taken for gone")

    def test_at_the_delete(self):
        for name in sorted(faults.NAMED.keys() - SLOW - {"empty-list", "short-list", "api-gone"}):
            with self.alone(name):
                self.settle()
                # More often than one call is repeated, so that the whole delete fails at first.
                passing = name in ("garbage", "server-error", "unavailable", "edge-text", "edge-html", "reset")
                self.cluster.fault("delete", name, times=4 if passing else 1)
                self.leave()

    def test_at_the_look_at_one_pod(self):
        for name in ["rate-limited", "server-error", "edge-text", "garbage", "not-found", "reset"]:
            with self.alone(name):
                # The answer to the create is lost, so that the pod is looked for by its name.
                self.cluster.fault("create", "done-but-reset")
                self.cluster.fault("get", name)
                self.settle()
                self.assertEqual(len(self.cluster.ever), 1)

    def test_what_asks_a_person_makes_nothing_and_says_so(self):
        for name in sorted(ASKS_A_PERSON):
            with self.alone(name):
                self.cluster.fault("create", name)
                with self.pool.scaling():
                    self.wait("the reason", lambda: "Kubernetes refuses" in (self.pool.folder / "log").read_text())
                self.assertEqual(self.cluster.living(), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
