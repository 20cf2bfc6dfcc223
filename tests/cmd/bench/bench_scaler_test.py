"""usage: bench_scaler_test.py NAVTALK   checks what `navtalk bench scaler` prints, as text and as JSON"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

NAVTALK = sys.argv.pop(1)
QUIET = [NAVTALK, "--progress", "none"]
SMALL = ("--days", "1", "--sessions", "1000")
KEYS = ("policy", "knob", "p_wait", "p50_wait_s", "p99_wait_s", "gpu_hours", "usd", "starts", "leaked_gpu_hours")


def run(*arguments):
    return subprocess.run([*QUIET, "bench", "scaler", *arguments], capture_output=True, text=True, check=False)


class BenchScaler(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.trace = os.path.join(folder.name, "users.csv")

    def test_json_has_one_row_a_policy_at_the_same_share_of_waiting_users(self):
        done = run("--generate", "bursty", *SMALL, "--wait-probability", "0.05", "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        report = json.loads(done.stdout)
        self.assertEqual(
            [row["policy"] for row in report["rows"]],
            ["static", "buffer", "buffer-hold", "utilisation", "sqrt-hold", "adaptive", "oracle"],
        )
        for row in report["rows"]:
            self.assertLessEqual(set(KEYS), set(row))
            self.assertTrue(row["reached"])
            self.assertEqual((row["leaked_gpu_hours"], row["busy_reclaimed"]), (0, 0))
            if row["policy"] != "oracle":
                self.assertAlmostEqual(row["p_wait"], 0.05, delta=0.005)
        self.assertGreater(len(report["frontier"]), len(report["rows"]))
        self.assertGreater(report["trace"]["sessions"], 900)

    def test_a_written_trace_gives_what_the_made_one_gave(self):
        written = run("--generate", "diurnal", *SMALL, "--seed", "5", "--output", self.trace)
        self.assertEqual((written.returncode, written.stderr), (0, ""))
        again = run("--generate", "diurnal", *SMALL, "--seed", "5", "--output", self.trace)
        self.assertEqual(again.returncode, 3)
        self.assertIn("--force", again.stderr)
        only = ("--policy", "adaptive", "--knob", "0.01", "--seed", "5", "--json")
        made = json.loads(run("--generate", "diurnal", *SMALL, *only).stdout)["rows"][0]
        read = json.loads(run("--trace", self.trace, *only).stdout)["rows"][0]
        self.assertAlmostEqual(made["gpu_hours"], read["gpu_hours"], delta=made["gpu_hours"] * 0.01)

    def test_text_has_a_line_for_each_policy(self):
        done = run("--generate", "smooth", *SMALL, "--policy", "adaptive,oracle", "--faults")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        starts = [line.split(" ")[0] for line in done.stdout.splitlines() if line]
        self.assertEqual(starts[-2:], ["adaptive", "oracle"])

    def test_a_knob_that_is_no_setting_is_refused(self):
        for policy, knob, remedy in (("adaptive", "4", "between 0 and 1"), ("buffer", "2.5", "a whole number")):
            done = run("--generate", "smooth", *SMALL, "--policy", policy, "--knob", knob)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(policy, done.stderr)
            self.assertIn(remedy, done.stderr)

    def test_a_bad_line_is_named(self):
        with open(self.trace, "w", encoding="utf-8") as file:
            file.write("arrival_s,duration_s\n1,2\n3,many\n")
        done = run("--trace", self.trace)
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertIn("users.csv: line 3", done.stderr)

    def test_a_missing_trace_is_not_found_and_none_is_bad_usage(self):
        self.assertEqual(run("--trace", self.trace).returncode, 4)
        self.assertEqual(run().returncode, 2)
        self.assertEqual(run("--trace", self.trace, "--generate", "smooth").returncode, 2)
        self.assertEqual(run("--generate", "smooth", "--policy", "magic").returncode, 2)


if __name__ == "__main__":
    unittest.main()
