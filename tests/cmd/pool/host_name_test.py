"""usage: host_name_test.py NAVTALK   a gateway under a host name that another machine or container has

The other one is its record in the store alone, which this test writes as a gateway does.
"""

import contextlib
import json
import os
import pathlib
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import unittest

NAVTALK = sys.argv.pop(1)
PATIENCE_S = 60
TRIES = 3


class Named(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": folder.name,
            "STATE_DIRECTORY": folder.name,
            "NAVTALK_STORE_URL": f"sqlite:{self.folder / 'pool.db'}",
            "NAVTALK_LOCAL_DEVICES": "none",
        }
        subprocess.run([NAVTALK, "pool", "status"], env=self.environment, check=True, capture_output=True)
        boot = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        self.other = f"{socket.gethostname()}/{boot}.1/7/1"  # no namespace has the number 1

    def sql(self, statement, *values):
        with contextlib.closing(sqlite3.connect(self.folder / "pool.db", timeout=PATIENCE_S)) as database, database:
            return database.execute(statement, values).fetchall()

    def renew(self, holds_s):
        """Writes the record of a gateway in another container, which holds for so long."""
        ((wall_minus_boot,),) = self.sql("SELECT wall_minus_boot FROM clock")
        now = wall_minus_boot + time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1000
        record = {
            "name": socket.gethostname(),
            "devices": ["cpu"],
            "slots_per_device": 1,
            "owner": self.other,
            "until_us": now + int(holds_s * 1e6),
        }
        self.sql("INSERT OR REPLACE INTO settings (name, value) VALUES ('hosts', ?)", json.dumps([record]))

    def owners(self):
        ((hosts,),) = self.sql("SELECT value FROM settings WHERE name = 'hosts'")
        return [host["owner"] for host in json.loads(hosts)]

    def serve(self):
        """The first line of a gateway that serves, which is ended then; or how it ended, and what it said."""
        gateway = subprocess.Popen(
            [NAVTALK, "--json", "serve", "--listen", "127.0.0.1:0"],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        line = json.loads(gateway.stdout.readline())
        owners = self.owners()
        if "url" in line:
            gateway.send_signal(signal.SIGTERM)
        gateway.communicate(timeout=PATIENCE_S)
        return line, gateway.returncode, owners

    def test_it_does_not_start_while_the_other_one_renews_its_record(self):
        over = threading.Event()

        def renewals():
            while not over.wait(0.1):
                self.renew(65)

        self.renew(65)
        renewing = threading.Thread(target=renewals)
        renewing.start()
        try:
            # Where this test stood still for so long that the other one counts as ended: once more.
            for _ in range(TRIES):
                line, status, owners = self.serve()
                if "error" in line:
                    break
        finally:
            over.set()
            renewing.join()
        self.assertEqual(status, 3)
        self.assertEqual(line["error"]["code"], "invalid")
        self.assertIn(f"host name '{socket.gethostname()}'", line["error"]["message"])
        self.assertIn("docker run --hostname", line["error"]["message"])
        self.assertEqual(owners, [self.other])

    def test_it_starts_when_the_other_one_was_killed(self):
        self.renew(32)  # renewed 28 s ago; silent in 2 s
        line, status, owners = self.serve()
        self.assertIn("url", line)
        self.assertEqual(status, 143)
        self.assertEqual(len(owners), 1)
        self.assertNotEqual(owners, [self.other])


if __name__ == "__main__":
    unittest.main()
