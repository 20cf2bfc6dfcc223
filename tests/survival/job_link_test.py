"""usage: job_link_test.py NAVTALK FAKE_RUNPOD FAKE_WORKER KILL_STEPS   jobs over a slow link, and a worker that takes none for a while"""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import time
import unittest

from job_rig import CLAIM, OVER, SPEECH_S, JobRig, new_key
from link import Link

PROGRAMS = [sys.argv.pop(1) for _ in range(3)]
LIBRARY = sys.argv.pop(1)
LEASE_S = 30
WIDE = 512  # a video that comes in several pieces, each of which needs far less than the 25 s that a worker may be silent


class MemoryGroup:
    """A control group of version 1 or 2 with a limit; None of made() where this system gives none to a test."""

    @staticmethod
    def made():
        for root, limit in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")):
            folder = pathlib.Path(root) / f"navtalk-test-{os.getpid()}"
            with contextlib.suppress(OSError):
                folder.mkdir()
                if (folder / limit).exists():
                    return MemoryGroup(folder, limit)
                folder.rmdir()
        return None

    def __init__(self, folder, limit):
        self.folder, self.file = folder, folder / limit

    def limit(self, mib):
        self.file.write_text(str(mib << 20))

    def add_this_process(self):
        (self.folder / "cgroup.procs").write_text(str(os.getpid()))

    def close(self):
        end = time.monotonic() + 10
        while self.folder.exists() and time.monotonic() < end:
            with contextlib.suppress(OSError):  # the last process is about to leave it
                self.folder.rmdir()


class JobLinks(unittest.TestCase):
    def setUp(self):
        self.rig = JobRig(PROGRAMS[0], LIBRARY, NAVTALK_LOCAL_DEVICES="none")
        self.addCleanup(self.rig.close)
        self.worker = self.link = None

    def start_worker(self, group=None):
        """A worker of its own, registered by the link's address."""
        environment = {**self.rig.environment}
        reserve = Link(0)  # its address is needed for the token
        token = json.loads(self.navtalk("pool", "token", reserve.url))["token"]
        command = [PROGRAMS[0], "--json", "serve", "--worker", "--listen", "127.0.0.1:0", "--device", "cpu"]
        self.worker = subprocess.Popen(command, env={**environment, "NAVTALK_WORKER_TOKEN": token}, stdout=subprocess.PIPE,
                                       stderr=open(self.rig.folder / "worker-log", "ab"),
                                       preexec_fn=group and group.add_this_process)
        self.addCleanup(self.end_worker)
        reserve.port = int(json.loads(self.worker.stdout.readline())["url"].rsplit(":", 1)[1])
        self.link = reserve
        self.navtalk("pool", "add", "--url", reserve.url)
        self.rig.wait("the worker is ready", self.rig.is_idle)

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
        self.start_worker()
        row = self.over(self.rig.submit(new_key(), width=WIDE))
        size = len(self.rig.result(row["id"]))
        self.link.bytes_per_s = size / (LEASE_S + 6)
        start = time.monotonic()
        row = self.over(self.rig.submit(new_key(), width=WIDE))
        self.assertGreater(time.monotonic() - start, LEASE_S, "the link was too fast for this test")
        self.assertEqual(self.claims(row), 1)
        self.assertEqual(self.rig.frames(self.rig.result(row["id"]))[0], SPEECH_S)

    def test_a_job_that_no_worker_was_told_of_has_lost_no_try(self):
        self.start_worker()
        self.link.refuses = True
        id = self.rig.submit(new_key())
        self.rig.wait("four refusals", lambda: self.link.refused >= 4)
        self.assertNotIn(self.rig.job(id)["state"], OVER)
        self.link.refuses = False
        self.assertEqual(self.over(id)["attempts"], 1)

    def test_a_job_waits_for_a_worker_whose_memory_it_would_exceed(self):
        group = MemoryGroup.made()
        if group is None:
            self.skipTest("this system lets no test limit memory")
        self.addCleanup(group.close)
        group.limit(900)  # below 95 % there is no room for a worker and a renderer
        self.start_worker(group)
        id = self.rig.submit(new_key())
        self.rig.wait("a refusal", lambda: "no memory for another job" in self.rig.log())
        # A claim counts until the job has been given back.
        self.rig.wait("no try counts", lambda: self.rig.job(id)["attempts"] == 0)
        group.limit(8192)
        self.assertEqual(self.over(id)["attempts"], 1)


if __name__ == "__main__":
    unittest.main()
