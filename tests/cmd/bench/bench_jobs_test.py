"""usage: bench_jobs_test.py NAVTALK   checks what `navtalk bench jobs` prints, as text and as JSON"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

NAVTALK = sys.argv.pop(1)
QUIET = [NAVTALK, "--progress", "none"]
SMALL = ("--generate", "--hours", "4", "--gpus", "8", "--arriving", "6", "--tenants", "10")


def run(*arguments):
    return subprocess.run([*QUIET, "bench", "jobs", *arguments], capture_output=True, text=True, check=False)


class BenchJobs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.trace = os.path.join(folder.name, "jobs.csv")

    def test_the_shipped_policy_is_fair_where_the_order_of_submission_is_not(self):
        with open(self.trace, "w", encoding="utf-8") as file:
            file.write("submitted_s,tenant,video_minutes\n")
            for tenant, jobs in (("large", 200), ("b", 20), ("c", 10), ("d", 5)):
                file.writelines(f"0,{tenant},1\n" for _ in range(jobs))
        done = run("--trace", self.trace, "--gpus", "4", "--flood", "3", "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        report = json.loads(done.stdout)
        rows = {row["policy"]: row for row in report["rows"]}
        self.assertEqual(list(rows), ["shares", "fifo", "priority", "fair"])
        self.assertEqual(report["flooder"], "large")
        self.assertLess(rows["shares"]["unfairness"], 1)
        self.assertGreater(rows["fifo"]["unfairness"], 10)
        self.assertLess(abs(rows["shares"]["others_p99_moved_percent"]), 5)
        self.assertGreater(rows["fifo"]["others_p99_moved_percent"], 50)
        for row in rows.values():
            for result, jobs in ((row["usual"], 235), (row["flooded"], 635)):
                self.assertEqual(result["jobs"], jobs)
                self.assertEqual(sum(one["jobs"] for one in result["tenants"].values()), jobs)

    def test_a_flood_of_long_jobs_gives_way_to_short_ones_of_another_tenant(self):
        with open(self.trace, "w", encoding="utf-8") as file:
            file.write("submitted_s,tenant,video_minutes\n")
            file.writelines("0,flood,15\n" for _ in range(8))
            file.writelines(f"{300 * i},small,1\n" for i in range(1, 100))
        lane = ("--trace", self.trace, "--gpus", "4", "--utilisation", "1", "--policy", "shares", "--json")
        rows = [json.loads(run(*lane, *more).stdout)["rows"][0]["flooded"] for more in ((), ("--whole-jobs",))]
        gives_way, whole = rows
        self.assertLess(gives_way["others"]["p99_wait_s"], 30)
        self.assertGreater(whole["others"]["p99_wait_s"], 60)
        self.assertGreater(gives_way["preemptions"], 10)
        self.assertEqual(whole["preemptions"], 0)
        self.assertLess(gives_way["resume_share"], 0.005)

    def test_no_promise_slips_without_being_changed(self):
        report = json.loads(run(*SMALL, "--policy", "shares", "--json").stdout)
        for result in (report["rows"][0]["usual"], report["rows"][0]["flooded"]):
            self.assertEqual(result["promises_slipped"], 0)
            self.assertGreater(result["promises_kept"], 0.9)
            self.assertGreaterEqual(result["promises_kept_as_changed"], result["promises_kept"])

    def test_a_written_trace_gives_what_the_made_one_gave(self):
        written = run(*SMALL, "--seed", "5", "--output", self.trace)
        self.assertEqual((written.returncode, written.stderr), (0, ""))
        again = run(*SMALL, "--output", self.trace)
        self.assertEqual(again.returncode, 3)
        only = ("--policy", "fair", "--seed", "5", "--json")
        made = json.loads(run(*SMALL, *only).stdout)["rows"][0]["usual"]["all"]
        read = json.loads(run("--trace", self.trace, "--gpus", "8", *only).stdout)["rows"][0]["usual"]["all"]
        self.assertEqual(made["jobs"], read["jobs"])
        self.assertAlmostEqual(made["mean_wait_s"], read["mean_wait_s"], delta=made["mean_wait_s"] * 0.02 + 1)

    def test_text_has_a_line_for_each_policy(self):
        done = run(*SMALL, "--policy", "shares,fifo")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        starts = [line.split(" ")[0] for line in done.stdout.splitlines() if line]
        self.assertEqual(starts[-2:], ["shares", "fifo"])

    def test_jobs_delay_no_user_by_more_than_ten_seconds(self):
        users = ("--live", "4", "--policy", "shares,fifo", "--json")
        reports = [json.loads(run(*SMALL, *users).stdout) for _ in range(2)]
        for report in reports:
            del report["machine"]
        self.assertEqual(*reports)
        for row in reports[0]["rows"]:
            for result in (row["usual"], row["flooded"]):
                live = result["live"]
                self.assertGreater(live["delayed_by_jobs"], 0)
                self.assertLessEqual(live["max_delay_s"], 10)
                self.assertEqual(live["delayed_above_10_s"], 0)
                self.assertGreater(live["slots_taken_back"], 0)
                self.assertLess(max(h["live_slots"] + h["lent_slots"] for h in live["hours"]), 8.001)
        other = json.loads(run(*SMALL, *users, "--seed", "2").stdout)
        self.assertNotEqual(other["rows"], reports[0]["rows"])

    def test_users_come_from_a_file(self):
        with open(self.trace, "w", encoding="utf-8") as file:
            file.write("submitted_s,tenant,video_minutes\n0,a,20\n10,b,20\n")
        users = os.path.join(os.path.dirname(self.trace), "users.csv")
        with open(users, "w", encoding="utf-8") as file:
            file.write("arrival_s,duration_s\n300,60\n")
        lanes = ("--trace", self.trace, "--sessions", users, "--gpus", "2", "--flood", "1", "--policy", "fifo")
        live = json.loads(run(*lanes, "--json").stdout)["rows"][0]["usual"]["live"]
        self.assertEqual((live["users"], live["delayed_by_jobs"], live["slots_taken_back"]), (1, 1, 1))
        text = run(*lanes)
        self.assertEqual((text.returncode, text.stderr), (0, ""))
        self.assertEqual([line.split("  ")[0] for line in text.stdout.splitlines()[-2:]], ["fifo", "fifo, flood"])
        self.assertEqual(run(*lanes, "--live", "2").returncode, 2)
        self.assertEqual(run("--trace", self.trace, "--sessions", self.trace).returncode, 3)

    def test_a_lane_of_no_gpu_starts_what_its_work_needs(self):
        with open(self.trace, "w", encoding="utf-8") as file:
            file.write("submitted_s,tenant,video_minutes\n0,a,1\n")
            file.writelines("7200,a,10\n" for _ in range(6))
        lane = ("--trace", self.trace, "--gpus", "0", "--flood", "1", "--policy", "shares", "--json")
        usual = json.loads(run(*lane, "--max-gpus", "4").stdout)["rows"][0]["usual"]
        self.assertEqual(usual["all"]["jobs"], 7)
        self.assertEqual((usual["gpus_started"], usual["most_gpus_started"]), (5, 4))
        self.assertLess(usual["gpu_hours"], 4 * 0.6)
        self.assertEqual(run(*lane).returncode, 2)
        self.assertEqual(run(*lane, "--max-gpus", "4", "--live", "1").returncode, 2)

    def test_what_is_wrong_with_a_trace_is_named(self):
        for lines, words in (
            ("submitted_s,tenant\n1,a\n", "no column video_minutes"),
            ("submitted_s,tenant,video_minutes\n1,a,many\n", 'line 2 has video_minutes = "many"'),
            ("submitted_s,tenant,video_minutes\n1,a b,2\n", 'line 2 has tenant = "a b"'),
            ("submitted_s,tenant,video_minutes\n2,a,1\n1,a,1\n", "line 3 comes before"),
            ("submitted_s,tenant,video_minutes\n", "there is no job in it"),
        ):
            with open(self.trace, "w", encoding="utf-8") as file:
                file.write(lines)
            done = run("--trace", self.trace)
            self.assertEqual((done.returncode, done.stdout), (3, ""), lines)
            self.assertIn(words, done.stderr)
        self.assertEqual(run("--generate", "--flooder", "nobody").returncode, 3)

    def test_a_missing_trace_is_not_found_and_none_is_bad_usage(self):
        self.assertEqual(run("--trace", self.trace).returncode, 4)
        self.assertEqual(run().returncode, 2)
        self.assertEqual(run("--trace", self.trace, "--generate").returncode, 2)
        self.assertEqual(run("--generate", "--policy", "magic").returncode, 2)


if __name__ == "__main__":
    unittest.main()
