"""usage: full_cloud_test.py NAVTALK FAKE_RUNPOD FAKE_WORKER   users wait while the cloud has no GPU

However many wait, as many tries are made at first, and then one every half minute.
"""

import sys
import time
import unittest

import needs_websocket  # noqa: F401

from user import Session
from world import FAILED, World

PROGRAMS = [sys.argv.pop(1) for _ in range(3)]
WAIT_S = 8
USERS = 3


class FullCloud(unittest.TestCase):
    def test_waiting_users_make_no_storm(self):
        made = World(PROGRAMS, least=0, most=4, max_gpus=8, failed_hold_s=60)
        self.addCleanup(made.close)
        made.cloud.fault(call="create", name="no-capacity", times=-1)
        gateway = made.start()
        users = [Session(gateway.url) for _ in range(USERS)]
        end = time.monotonic() + WAIT_S
        while time.monotonic() < end:
            time.sleep(0.5)
        rows = made.gpus()
        # One for each user before the first refusal was known, and none while the cloud backs off.
        self.assertLessEqual(len(rows), USERS + 1, made.story())
        self.assertTrue(all(row["state"] == FAILED for row in rows), made.story())
        for user in users:
            user.leave()


if __name__ == "__main__":
    unittest.main(verbosity=2)
