"""usage: bench_pool_test.py NAVTALK   checks what `navtalk bench pool` prints, as text and as JSON"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

NAVTALK = sys.argv.pop(1)
QUIET = [NAVTALK, "--progress", "none"]


def run(*arguments, gpus=20):
    quick = ["--clients", "3", "--seconds", "0.2", "--slots", "7", "--gpus", str(gpus)]
    return subprocess.run(
        [*QUIET, "bench", "pool", *quick, *arguments], capture_output=True, text=True, check=False
    )


class BenchPool(unittest.TestCase):
    def test_json_has_the_machine_every_call_and_exactly_the_slots_that_were_wanted(self):
        done = run("--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        report = json.loads(done.stdout)
        self.assertEqual(set(report), {"machine", "rows"})
        rows = {row["name"]: row for row in report["rows"]}
        self.assertEqual(set(rows), {"claim", "release", "tick, read", "tick, read and decide"})
        for row in rows.values():
            self.assertEqual((row["store"], row["unit"]), ("sqlite", "ms"))
            self.assertGreater(row["median"], 0)
            self.assertGreaterEqual(row["p99"], row["median"])
            self.assertGreater(row["per_second"], 0)
        claim = rows["claim"]
        self.assertEqual((claim["granted"], claim["slots"], claim["granted_twice"]), (7, 7, False))
        self.assertEqual(rows["tick, read"]["gpus"], 20)

    def test_text_says_how_many_slots_were_granted(self):
        done = run(gpus=0)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("7 of 7 slots were granted", done.stdout)
        self.assertNotIn("tick", done.stdout)

    def test_a_store_in_use_is_refused_and_an_empty_one_left_empty(self):
        with tempfile.TemporaryDirectory() as folder:
            url = f"sqlite:{pathlib.Path(folder) / 'pool.db'}"
            for _ in range(2):
                self.assertEqual(run("--store", url, gpus=0).returncode, 0)
            added = subprocess.run(
                [NAVTALK, "pool", "add", "--url", "http://127.0.0.1:9"],
                env={"NAVTALK_STORE_URL": url, "HOME": folder},
                capture_output=True,
                text=True,
                check=False,
            )
            self.assertEqual(added.returncode, 0, added.stderr)
            done = run("--store", url)
            self.assertEqual(done.returncode, 3)
            self.assertIn("empty", done.stderr)


if __name__ == "__main__":
    unittest.main()
