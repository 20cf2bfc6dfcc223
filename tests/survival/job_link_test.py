"""usage: job_link_test.py NAVTALK FAKE_RUNPOD FAKE_WORKER KILL_STEPS   jobs over a slow link, and a worker that takes none for a while"""

import json
import subprocess
import sys
import time
import unittest

from job_rig import CLAIM, OVER, SPEECH_S, JobRig, new_key
from link import Link

PROGRAMS = [sys.argv.pop(1) for _ in range(3)]
LIBRARY = sys.argv.pop(1)
LEASE_S = 30


class JobLinks(unittest.TestCase):
    def setUp(self):
        self.rig = JobRig(PROGRAMS[0], LIBRARY, NAVTALK_LOCAL_DEVICES="none")
        self.addCleanup(self.rig.close)
        self.worker = self.link = None
        self.start_worker()
        self.addCleanup(self.end_worker)
        self.rig.wait("the worker is ready", self.rig.is_idle)

    def start_worker(self):
        """A worker of its own, registered by the link's address."""
        environment = {**self.rig.environment}
        reserve = Link(0)  # its address is needed for the token
        token = json.loads(self.navtalk("pool", "token", reserve.url))["token"]
        command = [PROGRAMS[0], "--json", "serve", "--worker", "--listen", "127.0.0.1:0", "--device", "cpu"]
        self.worker = subprocess.Popen(command, env={**environment, "NAVTALK_WORKER_TOKEN": token}, stdout=subprocess.PIPE,
                                       stderr=open(self.rig.folder / "worker-log", "ab"))
        reserve.port = int(json.loads(self.worker.stdout.readline())["url"].rsplit(":", 1)[1])
        self.link = reserve
        self.navtalk("pool", "add", "--url", reserve.url)

    def end_worker(self):
        self.worker.kill()
        self.worker.wait()
        self.worker.stdout.close()
        self.link.close()

    def navtalk(self, *words):
        ran = subprocess.run([PROGRAMS[0], "--json", *words], env=self.rig.environment, capture_output=True, text=True, check=False)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return ran.stdout

    def over(self, id):
        row = self.rig.wait("the job is over", lambda: (row := self.rig.job(id)) and row["state"] in OVER and row)
        self.assertEqual(OVER[row["state"]], "done", f"{row}\n{self.rig.log()[-4000:]}")
        return row

    def claims(self, row):
        return sum(event["event"] == CLAIM for event in self.rig.events(row))

    def test_a_file_that_needs_longer_than_a_lease_arrives(self):
        row = self.over(self.rig.submit(new_key()))
        size = len(self.rig.result(row["id"]))
        self.link.bytes_per_s = size / (LEASE_S + 6)
        start = time.monotonic()
        row = self.over(self.rig.submit(new_key()))
        self.assertGreater(time.monotonic() - start, LEASE_S, "the link was too fast for this test")
        self.assertEqual(self.claims(row), 1)
        self.assertEqual(self.rig.frames(self.rig.result(row["id"]))[0], SPEECH_S)

    def test_a_job_that_no_worker_was_told_of_has_lost_no_try(self):
        self.link.refuses = True
        id = self.rig.submit(new_key())
        self.rig.wait("four refusals", lambda: self.link.refused >= 4)
        self.assertNotIn(self.rig.job(id)["state"], OVER)
        self.link.refuses = False
        self.assertEqual(self.over(id)["attempts"], 1)


if __name__ == "__main__":
    unittest.main()
