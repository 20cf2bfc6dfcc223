"""usage: bench_limit_test.py ROOT   bench/gpu/run until its time is over, with programs that stand in for the benches"""

import json
import os
import pathlib
import select
import signal
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))
ROW = {"name": "frame", "precision": "fp16", "way": "graphs", "clock": "events", "batch": 1, "median": 2.0}
DONE = "exit 0\n"
# Tells that it has begun, and on SIGTERM what it has measured until then. In a shell of its own: bash may run the trap while the output
# of a command of its own is still redirected.
LONG = """trap 'echo "{rows}"; exit 143' TERM
(echo begun >"$BEGUN")
while :; do sleep 0.1; done
""".replace("{rows}", json.dumps({"rows": [ROW]}).replace('"', '\\"'))
# Of the nets: tries, writes weights, and measures without end.
NETS = 'case "$*" in *--write-models* | *"--size small"*) exit 0 ;; esac\n' + LONG
IMAGE = f"""echo '{json.dumps({"rows": []})}'\n"""
LATER = ["image", "norms", "nets_full", "peer", "image_table", "norms_table"]


class Limit(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        script = self.folder / "bench/gpu/run"
        script.parent.mkdir(parents=True)
        script.write_bytes((ROOT / "bench/gpu/run").read_bytes())
        script.chmod(0o755)
        self.begun = self.folder / "begun"
        os.mkfifo(self.begun)
        torch = self.folder / "torch"
        (torch / "lib").mkdir(parents=True)
        for file in ("__init__.py", "lib/libtorch_cuda.so"):
            (torch / file).touch()
        (torch / "version.py").write_text("__version__, git_version = '2.11.0', 'abc'\n")
        (self.folder / "bin/nets").mkdir(parents=True)
        (self.folder / "bin/nets/torch").write_text("2.11.0 abc\n")

    def program(self, name, text):
        file = self.folder / "bin" / name
        file.write_text("#!/bin/bash\n" + text)
        file.chmod(0o755)

    def programs(self, nets, image=IMAGE):
        for name in ("test_cuda_device", "gpu_bench_norms", "nets/test_nets_device"):
            self.program(name, DONE)
        self.program("gpu_bench_image", image)
        self.program("nets/gpu_bench_nets", nets)

    def start(self, *arguments):
        environment = os.environ | {"OUT": str(self.folder / "out"), "NAVTALK_PYTHON": sys.executable, "PYTHONPATH": str(self.folder),
                                    "BEGUN": str(self.begun), "NAVTALK_GPU_SANITIZER": "no", "NAVTALK": "/nowhere"}
        environment.pop("NAVTALK_MODELS", None)
        return subprocess.Popen([self.folder / "bench/gpu/run", *arguments], env=environment, cwd=self.folder, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def wait_until_begun(self, running):
        # For writing, too: so that opening does not wait for a program that may never begin.
        begun = os.open(self.begun, os.O_RDWR)
        self.addCleanup(os.close, begun)
        while not select.select([begun], [], [], 0.1)[0]:
            self.assertIsNone(running.poll(), "the run ended before its nets began")

    def report(self):
        report = json.loads((self.folder / "out/report.json").read_text())
        return {step["name"]: step["exit_status"] for step in report["steps"]}, dict(line.split(": ", 1) for line in report["left_out"])

    def check_cut(self, printed, why):
        steps, left_out = self.report()
        self.assertEqual((steps["tests"], steps["nets_tests"], steps["nets_weights"]), (0, 0, 0))
        self.assertNotEqual(steps["nets"], 0)
        self.assertEqual(left_out["the rest of nets"], why)
        for name in LATER:
            self.assertNotIn(name, steps)
            self.assertEqual(left_out[name], why)
            self.assertIn(f"left out: {name}: {why}\n", printed)
        # What was measured until then is kept, and stands in the table, which is last.
        self.assertEqual(json.loads((self.folder / "out/nets.json").read_text())["rows"], [ROW])
        table = (self.folder / "out/table.log").read_text()
        self.assertIn("navtalk fp16 graphs", table)
        self.assertTrue(printed.endswith(table))

    def test_ended_from_outside_it_keeps_what_was_measured_and_prints_the_table(self):
        self.programs(NETS)
        running = self.start("--limit", "0")
        self.wait_until_begun(running)
        running.send_signal(signal.SIGTERM)
        printed, told = running.communicate()
        self.assertEqual(running.returncode, 0, told)
        self.check_cut(printed, "this was ended from outside")

    def test_the_limit_cuts_what_runs_and_leaves_out_the_rest(self):
        self.programs(DONE)
        self.program("test_cuda_device", '[ "$1" != --list-test-names-only ] || exit 0\nwhile :; do sleep 0.1; done\n')
        running = self.start("--limit", "5")
        printed, told = running.communicate()
        self.assertEqual(running.returncode, 0, told)
        steps, left_out = self.report()
        # On a machine that is busy the first step may not have begun.
        self.assertIn(steps, ({}, {"tests": 124}))
        for name in ["the rest of tests" if steps else "tests", "nets_tests", "nets", *LATER]:
            self.assertEqual(left_out[name], "the limit of 5 s is over")
            self.assertIn(f"left out: {name}: the limit of 5 s is over\n", printed)
        self.assertTrue((self.folder / "out/table.log").exists())

    def test_what_comes_first_is_what_counts_most(self):
        self.programs(DONE)
        running = self.start("--limit", "0")
        _, told = running.communicate()
        self.assertEqual(running.returncode, 0, told)
        steps, left_out = self.report()
        self.assertEqual(list(steps), ["tests", "nets_tests", "nets_weights", "nets", "image", "norms", "nets_full", "image_table", "norms_table"])
        self.assertEqual(set(left_out), {"peer", "nvenc", "pipeline", "memcheck", "racecheck"})

    def test_a_limit_is_a_number(self):
        running = self.start("--limit", "soon")
        _, told = running.communicate()
        self.assertEqual(running.returncode, 2)
        self.assertIn("--limit takes whole seconds", told)


if __name__ == "__main__":
    unittest.main()
