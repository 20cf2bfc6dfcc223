"""usage: serve_kill_test.py NAVTALK FAKE_RUNPOD FAKE_WORKER   kills navtalk serve in the middle of live sessions

First at chosen moments, between every pair of steps of a GPU's and a session's life, then at random ones with users who come
and go, workers that are killed and stopped, and a cloud that answers late, twice, wrongly or never. After every restart rows,
pods, leases and the ledger agree again within 60 s. NAVTALK_SURVIVAL_SEED (default 1) chooses the random moments,
NAVTALK_SURVIVAL_S (default 6) for how long.
"""

import concurrent.futures
import contextlib
import json
import os
import random
import signal
import sys
import time
import unittest

import needs_websocket  # noqa: F401

from chaos import Chaos
from user import Session, User
from world import CREATE, IDLE, World

PROGRAMS = [sys.argv.pop(1) for _ in range(3)]
SEED = int(os.environ.get("NAVTALK_SURVIVAL_SEED", "1"))
RANDOM_S = float(os.environ.get("NAVTALK_SURVIVAL_S", "6"))
PATIENCE_S = 60
AT_ONCE = 5  # worlds


@contextlib.contextmanager
def world(**options):
    made = World(PROGRAMS, **options)
    try:
        yield made
    finally:
        made.close()


def idle(made):
    return [gpu for gpu in made.gpus() if gpu["state"] == IDLE]


def creating(made, called):
    return [gpu for gpu in made.gpus() if gpu["operation"] == CREATE and bool(gpu["intent_called"]) == called]


# --- the moments: each brings a fresh world to a point and kills its gateway there


def intent_is_written(made):
    made.json("pool", "status")  # makes the store
    made.store.hold_calls()
    gateway = made.start()
    made.wait("an intent", lambda: creating(made, False))
    made.kill(gateway)
    assert creating(made, False), "the intent stands"
    made.store.release_calls()


def call_is_sent_and_nobody_reads_it(made):
    gateway = made.start()
    made.wait("a GPU", lambda: idle(made))
    first = Session(gateway.url)
    first.wait_ready(PATIENCE_S)
    made.wait("the next GPU", lambda: idle(made))
    made.cloud.pause()
    second = Session(gateway.url)  # takes the last one; another is prepared
    try:
        made.wait("a call", lambda: creating(made, True))
        made.kill(gateway)
    finally:
        made.cloud.resume()
    for session in (first, second):
        session.drop()


def call_is_read_and_not_answered(made):
    made.cloud.fault(call="create", how="hang")
    gateway = made.start()
    made.wait("a call", lambda: made.cloud.calls("create"))
    made.kill(gateway)


def pod_is_made_and_the_answer_is_lost(made):
    made.cloud.fault(call="create", how="hang", acts=True)
    gateway = made.start()
    made.wait("a pod", made.cloud.pods)
    made.kill(gateway)


def pod_is_made_and_shown_late(made):
    made.cloud.life(hidden_ms=1500)
    made.cloud.fault(call="create", how="hang", acts=True)
    gateway = made.start()
    made.wait("a pod", made.cloud.pods)
    made.cloud.script("calm")
    made.kill(gateway)


def pod_is_made_twice(made):
    made.cloud.life(twice=True)
    gateway = made.start()
    made.wait("pods", lambda: len(made.cloud.pods()) >= 2)
    made.cloud.script("calm")
    made.kill(gateway)


def answer_cannot_be_recorded(made):
    made.cloud.fault(call="create", status=0, acts=True, delay_ms=1000)
    gateway = made.start()
    made.wait("a call", lambda: made.cloud.calls("create"))
    with made.store.locked():
        made.wait("a pod", made.cloud.pods)
        made.kill(gateway)


def pod_is_recorded_and_not_proven(made):
    made.cloud.life(healthy_after_ms=2000)
    gateway = made.start()
    made.wait("its id", lambda: [gpu for gpu in made.gpus() if gpu["provider_id"]])
    made.kill(gateway)


def with_session(made, **worker):
    """A gateway with an idle GPU and a user on the way to it."""
    gateway = made.start()
    made.wait("a GPU", lambda: len(idle(made)) == 1)
    for pod in made.cloud.pods():
        made.cloud.tell_worker(pod["id"], **worker)
    session = Session(gateway.url)
    made.wait("a lease", made.sessions)
    return gateway, session


def calm_workers(made):
    for pod in made.cloud.pods():
        made.cloud.tell_worker(pod["id"], ready=True, routes={})


def slot_is_leased_and_the_worker_not_reached(made):
    gateway, session = with_session(made, routes={"/v1/session": {"hold": True}})
    made.kill(gateway)
    session.drop()
    calm_workers(made)


def worker_is_reached_and_not_ready(made):
    gateway, session = with_session(made, ready=False)
    made.wait("the worker's session", made.journal_lines)
    made.kill(gateway)
    session.drop()
    calm_workers(made)


def session_runs(made):
    gateway, session = with_session(made)
    assert session.wait_ready(PATIENCE_S)
    made.kill(gateway)
    assert session.receive(PATIENCE_S)["type"] == "closed"


def user_left_and_the_slot_is_not_given_back(made):
    gateway, session = with_session(made)
    assert session.wait_ready(PATIENCE_S)
    with made.store.locked():
        session.leave()
        made.wait("the end", lambda: made.journal_lines()[-1]["event"] == "closed")
        made.kill(gateway)


def users_wait(made):
    gateway = made.start()
    made.wait("a GPU", lambda: idle(made))
    made.cloud.script("full", {"places": ["*|*|*"]})
    sessions = [Session(gateway.url) for _ in range(4)]
    made.wait("a queue", made.waiters)
    made.kill(gateway)
    made.cloud.script("calm")
    for session in sessions:
        session.drop()


def destroy_is_called(made):
    gateway = made.start()
    made.wait("a GPU", lambda: idle(made))
    made.cloud.fault(call="delete", how="hang")
    gateway.ask("DELETE", f"/v1/pool/gpus/{made.gpus()[0]['id']}")
    made.wait("a call", lambda: made.cloud.calls("delete"))
    made.kill(gateway)


MOMENTS = [
    intent_is_written,
    call_is_sent_and_nobody_reads_it,
    call_is_read_and_not_answered,
    pod_is_made_and_the_answer_is_lost,
    pod_is_made_and_shown_late,
    pod_is_made_twice,
    answer_cannot_be_recorded,
    pod_is_recorded_and_not_proven,
    slot_is_leased_and_the_worker_not_reached,
    worker_is_reached_and_not_ready,
    session_runs,
    user_left_and_the_slot_is_not_given_back,
    users_wait,
    destroy_is_called,
]


def survive(moment):
    """Seconds until all was in order after the restart."""
    with world() as made:
        moment(made)
        gateway = made.start()
        took = made.reconciled()
        session = Session(gateway.url)
        assert session.wait_ready(PATIENCE_S), made.story()
        session.leave()
        made.settled()
        assert not made.unrecorded(), made.unrecorded()
        assert not made.leased_twice(), made.leased_twice()
        names = [pod["name"] for pod in made.cloud.pods_ever()]
        assert moment is pod_is_made_twice or len(set(names)) == len(names), names
        return took


class Kills(unittest.TestCase):
    def test_at_every_step_of_a_gpu_and_of_a_session(self):
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            runs = {moment.__name__: pool.submit(survive, moment) for moment in MOMENTS}
        for name, run in runs.items():
            with self.subTest(name):
                print(f"{name}: in order after {run.result():.1f} s")

    def test_at_random_moments_with_users_and_a_cloud_that_misbehaves(self):
        rng = random.Random(SEED)
        with world(least=2, most=3) as made:
            chaos = Chaos(made, rng)
            users = [User(chaos.some_url, random.Random(rng.random())) for _ in range(6)]
            chaos.run(RANDOM_S)
            took = made.reconciled()
            before = sum(user.counts.get("sessions", 0) for user in users)
            made.wait(
                "users are served again",
                lambda: sum(user.counts.get("sessions", 0) for user in users) > before + len(users),
            )
            for user in users:
                user.stop()
            for user in users:
                user.join(PATIENCE_S)
            made.settled()
            ends = {}
            for user in users:
                for end, count in user.counts.items():
                    ends[end] = ends.get(end, 0) + count
            print(f"seed {SEED}: {json.dumps(chaos.done)}, users {json.dumps(ends)}, in order after {took:.1f} s")
            self.assertEqual(made.unrecorded(), [])
            self.assertEqual(made.leased_twice(), [])
            audit = made.json("pool", "audit")
            self.assertEqual((audit["underrecorded"], audit["not_in_the_ledger"]), ([], []))
            self.assertEqual(len(audit["rows"]), len(made.cloud.pods_ever()))
            self.assertEqual(ends.get("lease_lost", 0), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
