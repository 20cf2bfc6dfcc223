"""usage: bench_run_test.py ROOT   packs the device's tests and bench, and runs the archive as a machine would that has nothing else"""

import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))


class BenchRun(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_the_archive_runs_elsewhere_and_says_plainly_that_nothing_was_measured(self):
        archive = self.folder / "pack.tar.gz"
        # What is fetched for it, and the Python reference, would take longer than the rest.
        without = os.environ | {"NAVTALK_GPU_SANITIZER": "no", "NAVTALK_GPU_PEER": "no"}
        packed = subprocess.run([ROOT / "bench/gpu/run", "--pack", archive], env=without, capture_output=True, text=True, check=False)
        self.assertEqual(packed.returncode, 0, packed.stderr)
        self.assertLess(archive.stat().st_size, 64 << 20)
        with tarfile.open(archive) as tar:
            tar.extractall(self.folder)
        place = self.folder / "navtalk-gpu"
        out = self.folder / "out"
        environment = {"PATH": "/usr/bin:/bin", "OUT": str(out), "NAVTALK_GPU_SECONDS": "0"}
        done = subprocess.run(
            [place / "bench/gpu/run"], env=environment, capture_output=True, text=True, check=False, cwd=self.folder
        )
        self.assertNotIn("building", done.stderr)
        report = json.loads((out / "report.json").read_text())
        steps = {step["name"]: step["exit_status"] for step in report["steps"]}
        self.assertEqual(steps["tests"], 0, (out / "tests.log").read_text())
        if steps["image"] == 0:
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("gpu", json.loads((out / "image.json").read_text()))
            return
        self.assertEqual((done.returncode, steps["image"]), (3, 3), done.stderr)
        self.assertFalse((out / "image.json").exists())
        self.assertIn("there is no device: nothing was measured", done.stderr)
        self.assertIn("skipped: there is no CUDA device", done.stdout)
        left_out = dict(line.split(": ", 1) for line in report["left_out"])
        self.assertEqual(set(left_out), {"memcheck", "racecheck", "peer", "pipeline"})
        for name, why in left_out.items():
            self.assertIn(f"left out: {name}: {why}\n", done.stdout)
        self.assertIn("no CUDA device", left_out["memcheck"])
        self.assertIn("torch", left_out["peer"])

    def test_without_an_archive_it_says_where_to_get_one(self):
        script = self.folder / "bench/gpu/run"
        script.parent.mkdir(parents=True)
        script.write_bytes((ROOT / "bench/gpu/run").read_bytes())
        script.chmod(0o755)
        done = subprocess.run([script], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("bench/gpu/run --pack", done.stderr)


if __name__ == "__main__":
    unittest.main()
