"""usage: faults_test.py NAVTALK FAKE_WORKER   every misbehaviour of the API server, at every call, leaves one pod for one row"""

import unittest

from pool_case import PoolCase

import faults

# Creation pauses for longer than a test until a person has acted.
ASKS_A_PERSON = {"bad-key", "forbidden"}
SLOW = {"silent", "done-but-silent"}  # until navtalk's own time is over


class Faults(PoolCase):
    def spanned(self):
        return {span.rsplit("/", 1)[1] for span in self.pool.spans() if span.startswith("kubernetes/")}

    def come_and_go(self, fault, calls):
        for call in calls:
            self.cluster.fault(call, fault)
        self.settle()
        self.assertEqual(len(self.cluster.ever), 1)
        self.leave(())

    def leave(self, given):
        for call, fault in given:
            self.cluster.fault(call, fault)
        self.pool.configure(pods=0)
        with self.pool.scaling():
            self.wait("an empty cluster", lambda: not self.cluster.living() and not self.pool.rows())
        self.assertEqual(self.spanned(), set(self.cluster.ever))
        self.assertEqual(self.cluster.faults, [], "a fault that no call met")

    def each(self, names):
        for name in names:
            with self.subTest(fault=name):
                self.doCleanups()
                self.setUp()
                yield name

    def test_at_the_create(self):
        for name in self.each(sorted(faults.NAMED.keys() - ASKS_A_PERSON - {"empty-list", "short-list"})):
            self.cluster.fault("create", name)
            self.settle()
            self.leave(())

    def test_at_the_list(self):
        for name in self.each(sorted(faults.NAMED.keys() - {"conflict", "unprocessable", "broken-rule"})):
            self.settle()
            self.cluster.fault("list", name, times=2)
            with self.pool.scaling():
                self.wait("both answers", lambda: not self.cluster.faults)
            self.settle()
            self.assertEqual(len(self.cluster.ever), 1, "a pod was taken for gone")

    def test_at_the_delete(self):
        for name in self.each(sorted(faults.NAMED.keys() - {"empty-list", "short-list", "api-gone"})):
            self.settle()
            self.leave([("delete", name)])

    def test_at_the_look_at_one_pod(self):
        for name in self.each(sorted(faults.NAMED.keys() - {"empty-list", "short-list"})):
            # The answer to the create is lost, so that the pod is looked for by its name.
            self.cluster.fault("create", "done-but-reset")
            self.cluster.fault("get", name)
            self.settle()
            self.assertEqual(len(self.cluster.ever), 1)

    def test_what_asks_a_person_makes_nothing_and_says_so(self):
        for name in self.each(sorted(ASKS_A_PERSON)):
            self.cluster.fault("create", name)
            with self.pool.scaling():
                self.wait("the reason", lambda: "Kubernetes refuses" in (self.pool.folder / "log").read_text())
            self.assertEqual(self.cluster.living(), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
