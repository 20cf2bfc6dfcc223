"""usage: pool_timer_test.py NAVTALK FAKE_RUNPOD   the scaler as a timer runs it: a process for each tick

What one tick has seen counts in the next one, and pods that were paid for end also after the cloud was switched off.
"""

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

from cloud_pool import PATIENCE_S, SETTLE_S, Pool, paid_pods

NAVTALK, FAKE_RUNPOD = sys.argv.pop(1), sys.argv.pop(1)


class Ticks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
        self.addCleanup(folder.cleanup)
        self.pool = Pool(NAVTALK, FAKE_RUNPOD, folder.name)
        self.addCleanup(self.pool.close)

    def ticks_until(self, what, condition, at_most=1000):
        deadline = time.monotonic() + PATIENCE_S
        logged = []
        for _ in range(at_most):
            if condition() or time.monotonic() > deadline:
                break
            logged += self.pool.tick()
        self.assertTrue(condition(), f"{what}: {self.pool.rows()} {self.pool.pods()} {logged}")

    def idle(self, gpus=1):
        rows = self.pool.rows()
        return len(rows) == len(self.pool.pods()) == gpus and all(row["state"] == "idle" for row in rows)

    def serving_pod(self):
        """One pod, idle; its row."""
        self.ticks_until("one idle pod", self.idle)
        return self.pool.rows()[0]

    def own_name(self, suffix):
        return self.pool.rows()[0]["name"].rsplit("-", 1)[0] + "-" + suffix

    def sql(self, statement):
        with contextlib.closing(sqlite3.connect(self.pool.database)) as database, database:
            database.execute(statement)

    def test_a_pod_that_vanished_is_replaced(self):
        row = self.serving_pod()
        self.pool.script("/pods/" + row["provider_id"], {"removed": True})
        self.ticks_until("another pod", lambda: self.idle() and self.pool.rows()[0]["id"] != row["id"])

    def test_a_pod_gets_the_model_store_on_the_web_and_no_credentials(self):
        self.pool.environment.update(
            NAVTALK_MODELS_SOURCE="s3://models/a https://models.example.com/a /srv/store",
            NAVTALK_MODELS_PATH="/nowhere/musetalk",
            AWS_ACCESS_KEY_ID="hidden",
            AWS_SECRET_ACCESS_KEY="hidden",
        )
        self.serving_pod()
        given = self.pool.pods()[0]["order"]["env"]
        self.assertEqual(given["NAVTALK_MODELS_SOURCE"], "https://models.example.com/a")
        self.assertEqual(given["NAVTALK_MODELS_PATH"], "musetalk")
        self.assertNotIn("hidden", json.dumps(self.pool.pods()))

    def test_missed_probes_of_several_ticks_count_together(self):
        gpu = self.pool.json("pool", "add", "--url", "http://127.0.0.1:1")["id"]
        row = lambda: next(row for row in self.pool.rows() if row["id"] == gpu)
        self.pool.tick()
        self.assertEqual(row()["state"], "starting")
        self.assertIn("127.0.0.1:1", row()["last_error"])
        # As if that had been a minute ago.
        self.sql("UPDATE gpus SET missed_since = missed_since - 60000000 WHERE misses > 0")
        self.pool.tick()
        self.assertEqual(row()["state"], "failed")

    def test_an_orphan_is_recorded(self):
        self.serving_pod()
        orphan = self.pool.script("/add", {"name": self.own_name("lost")})["id"]
        self.pool.tick()
        self.assertEqual(len(self.pool.rows()), 1)
        time.sleep(SETTLE_S)
        self.ticks_until("the orphan's record", lambda: orphan in paid_pods(self.pool), at_most=2)

    def test_a_pool_that_is_renamed_keeps_its_pods_and_finds_its_orphans(self):
        row = self.serving_pod()
        orphan = self.pool.script("/add", {"name": self.own_name("lost")})["id"]
        self.pool.configure(name="stage", prefix="talk", pods=2)
        self.pool.tick()
        time.sleep(SETTLE_S)
        self.ticks_until("the orphan's record", lambda: orphan in paid_pods(self.pool), at_most=3)
        kept = next(other for other in self.pool.rows() if other["id"] == row["id"])
        self.assertEqual((kept["state"], kept["usd_per_hour"]), ("idle", row["usd_per_hour"]))
        self.assertLessEqual({pod["id"] for pod in self.pool.pods()}, paid_pods(self.pool))

    def test_another_stores_pod_is_left_alone_and_told_once(self):
        self.serving_pod()
        parts = self.pool.rows()[0]["name"].split("-")
        stranger = "-".join([*parts[:2], "ffffffff", "theirs"])
        self.pool.script("/add", {"name": stranger})
        logged = [line for _ in range(4) for line in self.pool.tick()]
        self.assertEqual(len([line for line in logged if line.get("name") == stranger]), 1, logged)
        self.assertEqual(len(self.pool.pods()), 2)

    def test_a_young_pod_that_runpod_does_not_know_goes_after_the_settling_time(self):
        row = self.serving_pod()
        self.pool.script("/pods/" + row["provider_id"], {"removed": True})
        self.pool.json("pool", "remove", row["id"])
        self.pool.tick()
        self.assertIn(row["id"], [other["id"] for other in self.pool.rows()])
        time.sleep(SETTLE_S)
        self.ticks_until("its end", lambda: row["id"] not in [other["id"] for other in self.pool.rows()])

    def test_pods_end_when_the_cloud_is_switched_off(self):
        for without in ({"cloud": "off"}, {"image": ""}):
            with self.subTest(without):
                self.pool.configure()
                self.serving_pod()
                self.pool.configure(**without)
                self.ticks_until("no pod", lambda: not self.pool.pods() and not self.pool.rows())

    def test_a_pod_is_removed_by_hand_when_the_cloud_is_switched_off(self):
        row = self.serving_pod()
        self.pool.configure(cloud="off")
        self.pool.json("pool", "remove", row["id"])
        self.ticks_until("no pod", lambda: not self.pool.pods() and not self.pool.rows(), at_most=2)

    def stays_paused(self, row):
        """Three ticks leave that pod paused."""
        for _ in range(3):
            self.pool.tick()
        (now,) = self.pool.rows()
        self.assertEqual((now["id"], now["state"]), (row["id"], "paused"))

    def test_a_pod_that_is_worth_its_disk_is_paused_and_woken(self):
        row = self.serving_pod()
        self.pool.configure(pods=0, paused=1)
        self.ticks_until("a paused pod", lambda: self.pool.rows()[0]["state"] == "paused")
        self.stays_paused(row)
        self.pool.configure(pods=1, paused=1, most=1)  # no other one may be made
        self.ticks_until("an idle pod", self.idle)
        self.assertEqual(self.pool.rows()[0]["id"], row["id"])

    def printed_row(self):
        """What `pool status` prints of the only GPU."""
        done = subprocess.run(
            self.pool.command("pool", "status"), env=self.pool.environment, capture_output=True, text=True, timeout=60
        )
        return next(line for line in done.stdout.splitlines() if line.startswith(self.pool.rows()[0]["id"]))

    def test_a_pod_that_an_operator_paused_stays_until_the_cloud_is_switched_off(self):
        row = self.serving_pod()
        # What its worker says of the GPU is shown while it serves.
        said = dict(row["gpu"])
        self.assertRegex(said.pop("at"), r"^20\d\d-.*Z$")
        self.assertEqual(said, {"vram_total": 1 << 30, "vram_used": 1 << 20, "util": 0.5, "temperature_c": None})
        self.assertRegex(self.printed_row(), r"  0\.0/1\.0 GiB  50 %     -  ")
        self.pool.json("pool", "pause", row["id"])
        self.pool.configure(pods=0)
        self.stays_paused(row)
        self.assertIsNone(self.pool.rows()[0]["gpu"])
        self.assertRegex(self.printed_row(), r" -     -     -  ")
        self.pool.configure(pods=0, cloud="off")
        self.ticks_until("no pod", lambda: not self.pool.pods() and not self.pool.rows())

    def test_a_pod_that_nobody_can_end_is_told(self):
        row = self.serving_pod()
        self.pool.json("pool", "remove", row["id"])
        self.pool.configure(cloud="off")
        self.pool.environment["RUNPOD_API_KEY"] = ""
        errors = [line for line in self.pool.tick() if line["level"] == "error"]
        self.assertEqual([line.get("gpu") for line in errors if "gpu" in line], [row["id"]], errors)
        self.assertTrue(all("API key" in line["message"] for line in errors), errors)

    def test_costs_and_budgets_are_told(self):
        row = self.serving_pod()
        # As if it had been made an hour ago.
        self.sql("UPDATE paid_spans SET started_at = started_at - 3600000000")
        cost = self.pool.json("pool", "cost", "--days", "2")
        self.assertAlmostEqual(cost["usd"], row["usd_per_hour"], delta=0.2 * row["usd_per_hour"])
        self.assertAlmostEqual(sum(day["usd"] for day in cost["days"]), cost["usd"], delta=0.001)
        self.assertEqual(({day["provider"] for day in cost["days"]}, cost["used_usd"], cost["budgets"]), ({"runpod"}, 0, []))

        self.pool.environment["NAVTALK_POOL_BUDGET_USD_PER_MONTH"] = "0.000001"
        warned = [[line for line in self.pool.tick() if "budget" in line] for _ in range(2)]
        self.assertEqual([len(lines) for lines in warned], [1, 0], warned)
        self.assertEqual((warned[0][0]["budget"], warned[0][0]["percent"]), ("month", "100"))
        (event,) = [event for event in self.pool.json("pool", "events")["events"] if event["who"] == "budget"]
        self.assertIn("100 %", event["why"])
        (budget,) = self.pool.json("pool", "cost")["budgets"]
        self.assertEqual((budget["period"], budget["budget_usd"]), ("month", 0.000001))
        self.assertGreater(budget["spent_usd"], 0)

        def printed(*arguments):
            return subprocess.run(self.pool.command("pool", "cost", *arguments), env=self.pool.environment, capture_output=True, text=True, timeout=60)

        lines = printed("--csv", "--by", "provider").stdout.splitlines()
        self.assertEqual(lines[0], "provider,gpu_hours,usd,sessions,session_hours,used_usd")
        self.assertRegex(lines[1], r"^runpod,[01]\.\d{4},\d\.\d{4},0,0\.0000,0\.0000$")
        self.assertEqual(len(lines), 2)
        self.assertRegex(printed().stdout, r"(?s)DAY .*USD.*runpod.*of 0\.00 USD spent")
        wrong = printed("--csv", "--json")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("--csv and --json exclude each other", wrong.stdout)

    def interrupt(self, call, *arguments):
        """Ctrl-C while Runpod is silent to that call; the exit status, and how long it took to end."""
        self.pool.script("/faults", {"call": call, "how": "hang"})
        before = len(self.calls(call))
        process = subprocess.Popen(
            self.pool.command("pool", "scale", *arguments),
            env=self.pool.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.addCleanup(process.kill)
        self.pool.wait("the call", lambda: len(self.calls(call)) > before)
        process.send_signal(signal.SIGINT)
        asked = time.monotonic()
        return process.wait(60), time.monotonic() - asked

    def calls(self, call):
        return [one for one in self.pool.script("/requests")["requests"] if one["call"] == call]

    def test_an_interrupted_tick_begins_nothing(self):
        status, _ = self.interrupt("list")
        self.assertEqual(status, 130)
        self.assertEqual(self.pool.rows(), [])
        self.assertEqual(self.calls("create"), [])

    def test_an_interrupt_does_not_wait_for_the_catalog(self):
        status, took = self.interrupt("catalog", "--dry-run")
        self.assertEqual(status, 130)
        self.assertLess(took, 5)  # the catalog has ten seconds

    def test_a_refused_account_leaves_no_row_and_costs_nothing(self):
        self.pool.script("/faults", {"call": "create", "name": "bad-key", "times": -1})
        self.pool.tick(status=1)
        self.assertEqual(self.pool.json("pool", "status")["totals"]["usd_per_hour"], 0)
        self.pool.script("/faults", {"call": "list", "name": "bad-key", "times": -1})
        deadline = time.monotonic() + PATIENCE_S
        while self.pool.rows() and time.monotonic() < deadline:
            self.pool.tick(status=1)
        self.assertEqual(self.pool.rows(), [])

    def errors(self, status):
        """What the tick itself calls an error; the provider's client has its own line for a refused account."""
        lines = [line["message"] for line in self.pool.tick(status) if line["level"] == "error"]
        return [line for line in lines if line != "Runpod refuses"]

    def refuses_everything(self, fault, reason):
        self.pool.script("/faults", {"call": "*", "name": fault, "times": -1})
        for _ in range(2):
            said = " ".join(self.errors(status=1))
            self.assertIn("cloud", said)
            self.assertIn(reason, said)

    def test_a_tick_with_a_wrong_key_fails_and_says_so(self):
        self.refuses_everything("bad-key", "401")

    def test_a_tick_with_an_empty_account_fails_and_says_so(self):
        self.refuses_everything("no-money", "402")

    def test_a_tick_whose_provider_is_broken_fails_and_says_so(self):
        self.refuses_everything("server-error", "500")

    def test_a_tick_whose_provider_never_answers_ends_and_loses_nothing(self):
        row = self.serving_pod()
        self.pool.json("pool", "remove", row["id"])
        self.pool.script("/faults", {"call": "create", "name": "done-but-silent", "times": -1})
        self.pool.script("/faults", {"call": "*", "how": "hang", "times": -1})
        said = " ".join(self.errors(status=1))  # well within what the test's tick may take
        self.assertIn("cloud did not list its GPUs", said)
        self.assertIn("cloud did nothing of what it was asked for: create: ", said)
        states = {one["id"]: one["state"] for one in self.pool.rows()}
        self.assertEqual(states.pop(row["id"]), "stopping")
        self.assertEqual(list(states.values()), ["starting"])
        self.pool.script("/calm", {})
        self.ticks_until("one idle pod", self.idle)
        self.assertLessEqual({pod["id"] for pod in self.pool.script("/pods")["pods"]}, paid_pods(self.pool))

    def test_a_tick_that_needs_nothing_fails_when_the_list_does(self):
        self.serving_pod()
        self.pool.script("/faults", {"call": "list", "name": "no-money", "times": 1})
        (said,) = self.errors(status=1)
        self.assertIn("cloud did not list its GPUs", said)
        self.assertEqual(self.errors(status=0), [])

    def test_a_refused_account_stays_red_while_creation_is_paused(self):
        self.pool.script("/faults", {"call": "create", "name": "no-money", "times": -1})
        (said,) = self.errors(status=1)
        self.assertIn("cloud did nothing of what it was asked for: create: ", said)
        before = len(self.calls("create"))
        (said,) = self.errors(status=1)
        self.assertIn("1 slot is missing: creation is paused", said)
        self.assertEqual(len(self.calls("create")), before)

    def test_every_tick_is_red_while_no_create_succeeds(self):
        self.pool.configure(hold=3)
        self.pool.script("/faults", {"call": "create", "name": "server-error", "times": -1})
        deadline = time.monotonic() + PATIENCE_S
        while len(self.calls("create")) < 3 and time.monotonic() < deadline:
            said = " ".join(self.errors(status=1))
            self.assertIn("cloud", said)
            self.assertIn("500", said)
        self.assertGreaterEqual(len(self.calls("create")), 3)

    def test_a_lack_of_capacity_stays_visible_while_it_is_not_asked_again(self):
        self.pool.configure(hold=60)
        self.pool.script("/faults", {"call": "create", "name": "no-capacity", "times": -1})
        for _ in range(3):
            self.errors(status=5)

    def catalog_refused(self, fault, status):
        """The prices that the cap on spending (10 USD by default) needs."""
        self.pool.script("/faults", {"call": "catalog", "name": fault, "times": -1})
        (said,) = self.errors(status=1)
        self.assertIn("cloud did nothing of what it was asked for: create: ", said)
        self.assertIn(status, said)
        (said,) = self.errors(status=1)
        self.assertIn("creation is paused", said)

    def test_a_wrong_key_is_told_when_only_prices_were_asked_for(self):
        self.catalog_refused("bad-key", "401")

    def test_an_empty_account_is_told_when_only_prices_were_asked_for(self):
        self.catalog_refused("no-money", "402")

    def test_a_broken_catalog_is_the_providers_failure(self):
        self.pool.configure(hold=60)
        self.pool.script("/faults", {"call": "catalog", "name": "server-error", "times": -1})
        for _ in range(2):
            said = " ".join(self.errors(status=1))
            self.assertIn("reading the prices", said)
            self.assertIn("500", said)
        self.assertEqual(self.pool.json("pool", "status")["totals"]["usd_per_hour"], 0)

    def test_a_lack_of_capacity_has_a_status_of_its_own(self):
        self.pool.script("/faults", {"call": "create", "name": "no-capacity", "times": -1})
        (said,) = self.errors(status=5)
        self.assertIn("cloud has no capacity", said)

    def test_a_part_that_was_done_is_no_failure(self):
        self.pool.configure(pods=2)
        # The refusal comes late: a create that begins after it would not be tried at all.
        self.pool.script("/faults", {"call": "create", "name": "no-money", "times": 1, "delay_ms": 3000})
        self.assertEqual(self.errors(status=0), [])
        self.assertEqual(len(self.pool.pods()), 1)

    def test_what_failed_stands_in_the_json_too(self):
        self.pool.script("/faults", {"call": "list", "name": "bad-key", "times": -1})
        done = subprocess.run(
            self.pool.command("--json", "pool", "scale", "--exit-code"),
            env=self.pool.environment, capture_output=True, text=True, timeout=120,
        )
        self.assertEqual(done.returncode, 1, done.stderr)
        (problem,) = json.loads(done.stdout)["problems"]
        self.assertEqual(problem["code"], "failed")
        self.assertIn("cloud", problem["message"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
