"""usage: job_kill_test.py NAVTALK FAKE_RUNPOD FAKE_WORKER KILL_STEPS [--all]   no step of a job's life loses it or doubles it

The gateway, its worker and the process that renders are ended by SIGKILL at a step of a job's life: a transaction, an fsync, a
rename, a frame between them (tests/fakes/kill_steps.cpp). A run without kills counts the steps. With --all every step is one
run; without, some of them, which NAVTALK_SURVIVAL_SEED chooses.
"""

import concurrent.futures
import os
import random
import signal
import sys
import threading
import time
import unittest

from job_rig import CLAIM, FINISH, OVER, SEGMENT, SEGMENTS, SPEECH_S, JobRig, new_key
from kill_steps import HOLD, KILL
from stores import Postgres

PROGRAMS = [sys.argv.pop(1) for _ in range(3)]
LIBRARY = sys.argv.pop(1)
ALL = "--all" in sys.argv
if ALL:
    sys.argv.remove("--all")
REQUEUE_S = 31  # the lease, and the second between two looks at it


def rendered_again(steps):
    """Segments that were begun more than once."""
    begun = [step.what for step in steps if step.role == "renderer" and step.what.startswith("begin 0")]
    return len(begun) - len(set(begun))


class Walk:
    """What both kinds of kills have in common."""

    # A thread that stays: a database that it starts would end with it.
    hand = concurrent.futures.ThreadPoolExecutor(1)

    @classmethod
    def begin(cls, store=None):
        cls.rig = JobRig(PROGRAMS[0], LIBRARY, store)
        cls.addClassCleanup(cls.rig.close)
        cls.rig.wait("the worker is ready", cls.rig.is_idle)
        cls.rng = random.Random(os.environ.get("NAVTALK_SURVIVAL_SEED", "1"))
        cls.video = None

    def run_job(self, role, number, action=KILL, at_step=lambda: None):
        """One job, with a kill at that step; returns its row, the steps, and seconds from the kill to the next claim."""
        rig, key = self.rig, new_key()
        rig.wait("the worker is idle", rig.is_idle)
        if role == "worker":
            rig.restart()
            rig.wait("the worker is idle again", rig.is_idle)
        rig.steps.arm(role, number, action)
        done = threading.Event()
        acting = self.hand.submit(self.act_at_step, at_step, done)
        try:
            return self.follow(rig.submit(key), key)
        finally:
            done.set()
            acting.result()

    def act_at_step(self, act, done):
        while not done.is_set():
            if self.rig.steps.victim():
                return act()
            time.sleep(0.01)

    def follow(self, id, key):
        rig = self.rig
        killed_at, again = None, None

        def over():
            nonlocal killed_at, again
            row = rig.job(id)
            if killed_at is None and rig.steps.victim():
                killed_at = time.monotonic()
                self.claims_before = sum(event["event"] == CLAIM for event in rig.events(row))
            if killed_at and again is None and sum(event["event"] == CLAIM for event in rig.events(row)) > self.claims_before:
                again = time.monotonic() - killed_at
            return row if row["state"] in OVER else None

        row = rig.wait(f"job {id} is over", over)
        rig.wait("its slot is free", rig.is_idle)
        rig.wait("its end is told", lambda: self.is_told(row))
        self.assertEqual(rig.submit(key), id)
        steps = rig.steps.steps()
        rig.steps.disarm()
        return row, steps, again

    def is_told(self, row):
        """The webhook came, or will be sent again."""
        return ("job.done", row["id"]) in self.rig.hooks.told or self.rig.rows(
            f"SELECT number FROM job_notices WHERE job = {row['number']}")

    def check(self, row, steps, again):
        rig = self.rig
        self.assertEqual(OVER[row["state"]], "done", f"{row}\n{rig.log()[-4000:]}")
        events = [event["event"] for event in rig.events(row)]
        self.assertEqual(events.count(FINISH), 1)
        self.assertEqual(events.count(SEGMENT), SEGMENTS)
        content = rig.result(row["id"])
        if self.video is None:
            type(self).video = content
            frames, duration = rig.frames(content)
            self.assertEqual(frames, SPEECH_S)
            self.assertAlmostEqual(duration, SPEECH_S, delta=0.1)
        self.assertEqual(content, self.video, "the video is another one than without a kill")
        self.assertLessEqual(rendered_again(steps), 1)
        if again is not None:
            self.assertLessEqual(again, REQUEUE_S)
        self.assertEqual(rig.leases(), [])
        self.assertEqual(self.left_over(row), [])

    def left_over(self, row):
        """Files that nobody needs, once whoever was killed runs again."""
        def extra():
            jobs = self.rig.folder / "jobs"
            found = [file.relative_to(jobs) for file in jobs.rglob("*.partial")]
            return found + [file.relative_to(jobs) for file in (jobs / row["id"]).iterdir() if file.name != "video.mp4"]

        end = time.monotonic() + 5
        while extra() and time.monotonic() < end:
            time.sleep(0.1)
        return extra()

    def walk(self, role, samples, action=KILL, at_step=lambda: None):
        row, steps, _ = self.run_job(role, 0)
        self.check(row, steps, None)
        last = max(step.number for step in steps if step.role == role)
        numbers = range(1, last + 1) if samples is None else sorted(self.rng.sample(range(1, last + 1), min(samples, last)))
        hits, slowest, repeated = [], 0, 0
        for number in numbers:
            with self.subTest(role=role, step=number):
                hit = None
                while hit is None and number > 0:
                    row, steps, again = self.run_job(role, number, action, at_step)
                    hit = next((step for step in steps if step.hit), None)
                    if hit is None and samples is None:
                        break
                    if hit is None:
                        number = 2 * number // 3  # this time there were fewer
                if hit is None:
                    continue
                hits.append(hit.what)
                print(f"{role} {number}/{last} {hit.what}: again after {again and round(again, 1)} s, "
                      f"{rendered_again(steps)} segments twice", flush=True)
                slowest, repeated = max(slowest, again or 0), repeated + rendered_again(steps)
                self.check(row, steps, again)
        self.assertTrue(hits)
        print(f"{role}: {len(hits)} kills at {len(set(hits))} kinds of steps of {last}; the job went on after {slowest:.1f} s at most; "
              f"{repeated} segments were rendered twice", flush=True)


class JobKills(Walk, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.begin()

    def test_a_gateway_that_is_killed_at_any_step_loses_no_job_and_no_result(self):
        self.walk("gateway", None if ALL else 2)

    def test_a_worker_that_is_killed_at_any_step_loses_no_job_and_no_result(self):
        self.walk("worker", None if ALL else 1)

    def test_a_renderer_that_is_killed_at_any_step_loses_no_job_and_no_result(self):
        self.walk("renderer", None if ALL else 1)


@unittest.skipUnless(Postgres.programs(), "PostgreSQL is not installed")
class DatabaseKills(Walk, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.begin(Postgres())

    def end_database(self):
        """At once, as a crash does; it is away for two seconds."""
        self.rig.store.stop(signal.SIGQUIT)
        time.sleep(2)
        self.rig.store.start()
        self.rig.steps.release()

    def test_a_database_that_is_killed_before_a_step_of_the_gateway_loses_no_job_and_no_result(self):
        self.walk("gateway", 20 if ALL else 1, HOLD, self.end_database)


if __name__ == "__main__":
    unittest.main()
