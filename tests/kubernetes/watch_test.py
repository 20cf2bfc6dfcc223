"""usage: watch_test.py NAVTALK FAKE_WORKER   a gateway sees at once what happens to its pods, by a watch that goes on after faults"""

import unittest

from pool_case import PoolCase

# The gateway lists once a minute, and when this begins the last list was less than 25 s ago: what is seen earlier was told by the watch.
SOON_S = 35


class Watch(PoolCase):
    def names(self):
        return {pod["metadata"]["name"] for pod in self.cluster.living()}

    def settle_served(self, count=1):
        self.wait(f"{count} idle GPUs", lambda: self.settled(count))
        self.wait("a watch", lambda: self.cluster.calls("watch"))
        # Until the gateway has nothing to look at soon.
        lists = -1
        while lists != len(self.cluster.calls("list")):
            lists = len(self.cluster.calls("list"))
            self.cluster.stopping.wait(12)

    def fail_one(self):
        """A pod fails whose worker goes on answering: nobody but the API server tells it."""
        name = min(self.names())
        self.cluster.change(name, phase="Failed", reason="Evicted")
        return name

    def sees_another_failure(self):
        failed = self.fail_one()
        self.wait("another pod", lambda: failed not in self.names() and self.settled(1), SOON_S)

    def test_a_failure_is_seen_at_once_after_cut_streams_and_forgotten_versions_too(self):
        with self.pool.serving():
            self.settle_served()
            first = self.cluster.calls("watch")[0]["query"]
            self.assertEqual(first["allowWatchBookmarks"], "true")
            self.assertEqual(first["labelSelector"], self.cluster.calls("list")[0]["query"]["labelSelector"])
            self.sees_another_failure()
            # Cut in the middle of a line: it goes on from the last version, without a list of the watch's own.
            watches = len(self.cluster.calls("watch"))
            self.cluster.cut()
            self.wait("a new stream", lambda: len(self.cluster.calls("watch")) > watches)
            self.assertGreater(int(self.cluster.calls("watch")[-1]["query"]["resourceVersion"]), int(first["resourceVersion"]))
            self.sees_another_failure()
            # What happened while nobody listened is told then.
            self.cluster.fault("watch", status=503, times=2)
            self.cluster.cut()
            self.sees_another_failure()
            # The last version is forgotten: within the stream, and as an answer.
            self.cluster.compact()
            self.sees_another_failure()
            self.cluster.fault("watch", status=410, message="too old resource version")
            self.cluster.cut()
            self.sees_another_failure()
            self.cluster.fault("watch", status=429, retry_after=1)
            self.cluster.fault("watch", status=200, body="<html>\n")
            self.cluster.cut()
            self.sees_another_failure()

    def test_a_pod_that_somebody_deletes_is_replaced_at_once(self):
        with self.pool.serving():
            self.settle_served()
            name = min(self.names())
            lists = len(self.cluster.calls("list"))
            self.cluster.remove(name)
            self.wait("a list", lambda: len(self.cluster.calls("list")) > lists, SOON_S)
            self.wait("another pod", lambda: name not in self.names() and self.settled(1))

    def test_without_the_right_to_watch_lists_go_on(self):
        self.cluster.fault("watch", times=1000, status=403, message="pods is forbidden: cannot watch")
        with self.pool.serving():
            self.wait("an idle GPU", lambda: self.settled(1))
            self.wait("the reason", lambda: "pods cannot be watched" in (self.pool.folder / "log").read_text())
            self.assertEqual((self.pool.folder / "log").read_text().count("pods cannot be watched"), 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
