"""usage: slow_cloud_test.py NAVTALK FAKE_RUNPOD FAKE_WORKER   creates hang, and nothing else waits for them

More creates than one kind of call has threads; a drained pod is deleted meanwhile.
"""

import sys
import unittest

import needs_websocket  # noqa: F401

from user import Session
from world import IDLE, World

PROGRAMS = [sys.argv.pop(1) for _ in range(3)]
PATIENCE_S = 60
AT_ONCE_S = 60  # a create hangs for 120 s
THREADS = 8  # of a lane
USERS = 12


class SlowCloud(unittest.TestCase):
    def test_creates_that_hang_delay_no_delete(self):
        made = World(PROGRAMS, least=1, most=1, max_gpus=16)
        self.addCleanup(made.close)
        gateway = made.start()
        made.wait("a pod is ready", lambda: any(gpu["state"] == IDLE for gpu in made.gpus()))
        (pod,) = made.cloud.pods()
        made.cloud.fault(call="create", name="silent", times=-1)

        served = Session(gateway.url)
        self.assertTrue(served.wait_ready(PATIENCE_S), made.story())
        waiting = [Session(gateway.url) for _ in range(USERS)]
        made.wait("creates hang on every thread", lambda: len(made.cloud.calls("create")) >= 1 + THREADS)

        gpu = next(gpu["id"] for gpu in made.gpus() if gpu["provider_id"] == pod["id"])
        made.json("pool", "drain", gpu)
        served.leave()
        made.wait("the drained pod is deleted", lambda: not made.cloud.pods(), AT_ONCE_S)
        made.wait("its row is gone", lambda: all(row["id"] != gpu for row in made.gpus()), AT_ONCE_S)
        for user in waiting:
            user.leave()


if __name__ == "__main__":
    unittest.main(verbosity=2)
