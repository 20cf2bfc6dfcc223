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
CACHE = pathlib.Path(os.environ.get("NAVTALK_CACHE") or pathlib.Path(os.environ.get("HOME", "/root"), ".cache/navtalk"))
# libtorch as a Python has it that `import`s torch: the folders are the same.
TORCH = CACHE / "libtorch-2.11.0"


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
        for tool in ("kernel_times.py", "sound.py", "sessions.py"):
            self.assertTrue((place / "bench/gpu" / tool).exists(), tool)
        out = self.folder / "out"
        done, report = self.run_there(place, out, TORCH)
        self.assertNotIn("building", done.stderr)
        steps = {step["name"]: step["exit_status"] for step in report["steps"]}
        self.assertEqual(steps["tests"], 0, (out / "tests.log").read_text())
        if steps["image"] == 0:
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("gpu", json.loads((out / "image.json").read_text()))
            self.assertIn("gpu", json.loads((out / "nets.json").read_text()))
            return
        self.assertEqual((done.returncode, steps["image"]), (3, 3), done.stderr)
        self.assertFalse((out / "image.json").exists())
        self.assertIn("there is no device: nothing was measured", done.stderr)
        self.assertIn("skipped: there is no CUDA device", done.stdout)
        left_out = dict(line.split(": ", 1) for line in report["left_out"])
        self.assertEqual(set(left_out), {"memcheck", "racecheck", "nets", "peer", "infer_gpu", "infer_cpu", "serve", "pipeline_demo", "pipeline",
                                          "nvenc"})
        for name, why in left_out.items():
            self.assertIn(f"left out: {name}: {why}\n", done.stdout)
        self.assertIn("no CUDA device", left_out["memcheck"])
        self.assertIn("torch", left_out["peer"])
        # The program has started, and says so itself.
        self.assertIn("gpu_bench_nets: device 'cuda:0': there is no CUDA device", left_out["nets"])
        self.the_nets_run_on_the_cpu(place)
        self.another_torch_is_refused_by_name(place)

    def run_there(self, place, out, torch):
        """What a machine does whose Python has torch in that folder."""
        environment = {"PATH": "/usr/bin:/bin", "OUT": str(out), "NAVTALK_GPU_SECONDS": "0", "NAVTALK_PYTHON": "/usr/bin/python3",
                       "PYTHONPATH": str(torch)}
        done = subprocess.run(
            [place / "bench/gpu/run"], env=environment, capture_output=True, text=True, check=False, cwd=self.folder
        )
        return done, json.loads((out / "report.json").read_text())

    def the_nets_run_on_the_cpu(self, place):
        nets = place / "bin/nets"
        needed = subprocess.run(["readelf", "-d", nets / "gpu_bench_nets"], capture_output=True, text=True, check=True).stdout
        for library in ("opencv", "libav", "sqlite", "pqxx", "curl"):
            self.assertNotIn(library, needed)
        paths = [nets / "lib", TORCH / "torch/lib", *TORCH.glob("nvidia/*/lib")]
        done = subprocess.run(
            [nets / "gpu_bench_nets", "--device", "cpu", "--size", "small", "--precision", "fp32", "--batch", "1", "--time", "0"],
            env={"LD_LIBRARY_PATH": ":".join(map(str, paths))}, capture_output=True, text=True, check=False,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = json.loads(done.stdout)["rows"]
        self.assertEqual([row["name"] for row in rows], ["unet", "decoder", "faces"])
        for row in rows:
            self.assertEqual((row["device"], row["clock"], row["batch"]), ("cpu", "host", 1))
            self.assertGreater(row["median"], 0)

    def another_torch_is_refused_by_name(self, place):
        other = self.folder / "other/torch"
        other.mkdir(parents=True)
        (other / "__init__.py").touch()
        (other / "version.py").write_text("__version__, git_version = '2.10.0', 'abc'\n")
        _, report = self.run_there(place, self.folder / "out2", other.parent)
        why = dict(line.split(": ", 1) for line in report["left_out"])["nets"]
        self.assertRegex(why, f"^the torch in {other} is 2.10.0 abc, and the programs were linked with 2.11.0\\+cu130 [0-9a-f]{{40}}$")

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
