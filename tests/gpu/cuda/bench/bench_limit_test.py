"""usage: bench_limit_test.py ROOT   bench/gpu/run until its time is over, with programs that stand in for the benches"""

import contextlib
import json
import os
import pathlib
import select
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))
ROW = {"name": "frame", "precision": "fp16", "way": "graphs", "clock": "events", "batch": 1, "median": 2.0}
DONE = "exit 0\n"
DEADLINE_SECONDS = 120
# Ends by itself, should this test be killed.
HANG = f"for ((i = 0; i < {10 * DEADLINE_SECONDS}; ++i)); do sleep 0.1; done\n"
# The program of the kernels' tests is also asked whether it starts.
HANGING_TESTS = '[ "$1" != --list-test-names-only ] || exit 0\n' + HANG
STALE = "ERROR SUMMARY: 7 errors of an earlier run"
# Tells that it has begun, and on SIGTERM what it has measured until then. In a shell of its own: bash may run the trap while the output
# of a command of its own is still redirected.
LONG = """trap 'echo "{rows}"; exit 143' TERM
(echo begun >"$BEGUN")
{hang}""".replace("{hang}", HANG).replace("{rows}", json.dumps({"rows": [ROW]}).replace('"', '\\"'))
# Of the nets: tries, writes weights, and measures without end.
NETS = 'case "$*" in *--write-models* | *"--size small"*) exit 0 ;; esac\n' + LONG
IMAGE = f"""echo '{json.dumps({"rows": []})}'\n"""
# As ncu has it, and what it was called with.
PROFILE = """echo "==PROF== $*"
echo '"ID","Kernel Name","gpu__time_duration.sum"'
echo '"","","ns"'
echo '"0","my_kernel","2000000"'
"""
# Benches report, or say what is wrong; both as JSON.
NAVTALK = """echo "$*"
case "$*" in *"--models /some/models"*) echo '{"error": {"code": "invalid"}}' ;; *"bench pipeline"*) echo '{"rows": []}' ;; esac
exit 0
"""
SESSIONS = """import sys
print(sys.argv[1:], open(sys.argv[2]).read())
print("14 of 14 sessions served")
"""
LATER = ["image", "norms", "nets_full", "peer"]
# A shell lets commands in its background ignore SIGINT, and ctest may be one. The run would inherit that and could not catch the signal.
signal.signal(signal.SIGINT, signal.default_int_handler)


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

    def start(self, *arguments, **more):
        environment = os.environ | {"OUT": str(self.folder / "out"), "NAVTALK_PYTHON": sys.executable, "PYTHONPATH": str(self.folder),
                                    "BEGUN": str(self.begun), "NAVTALK_GPU_SANITIZER": "no", "NAVTALK": "/nowhere"}
        environment.pop("NAVTALK_MODELS", None)
        environment |= more
        running = subprocess.Popen([self.folder / "bench/gpu/run", *arguments], env=environment, cwd=self.folder, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        self.addCleanup(self.end, running)
        return running

    def end(self, running):
        """Ends whatever is left of a run. Its steps have process groups of their own, which timeout makes, in the run's session."""
        for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):  # it has ended meanwhile
                session = stat.read_text().rsplit(")", 1)[1].split()[3]
                if int(session) == running.pid:
                    os.kill(int(stat.parent.name), signal.SIGKILL)
        running.wait(DEADLINE_SECONDS)
        running.stdout.close()
        running.stderr.close()

    def finish(self, running):
        return running.communicate(timeout=DEADLINE_SECONDS)

    def wait_until_begun(self, running):
        # For writing, too: so that opening does not wait for a program that may never begin.
        begun = os.open(self.begun, os.O_RDWR)
        self.addCleanup(os.close, begun)
        deadline = time.monotonic() + DEADLINE_SECONDS
        while not select.select([begun], [], [], 0.1)[0]:
            self.assertIsNone(running.poll(), "the run ended before its nets began")
            self.assertLess(time.monotonic(), deadline, "the nets did not begin")

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

    def check_ended_by(self, number, status):
        self.programs(NETS)
        running = self.start("--limit", "0")
        self.wait_until_begun(running)
        running.send_signal(number)
        printed, told = self.finish(running)
        self.assertEqual(running.returncode, status, told)
        self.check_cut(printed, "this was ended from outside")

    def test_ended_by_sigterm_it_keeps_what_was_measured_and_prints_the_table(self):
        self.check_ended_by(signal.SIGTERM, 143)

    def test_ended_by_sigint_it_keeps_what_was_measured_and_prints_the_table(self):
        self.check_ended_by(signal.SIGINT, 130)

    def test_the_limit_cuts_what_runs_and_leaves_out_the_rest(self):
        self.programs(DONE)
        self.program("test_cuda_device", HANGING_TESTS)
        running = self.start("--limit", "10")
        printed, told = self.finish(running)
        steps, left_out = self.report()
        # On a machine that is busy the first step may not have begun.
        self.assertIn(steps, ({}, {"tests": 124}))
        # Tests that did not end have not passed.
        self.assertEqual(running.returncode, 1 if steps else 0, told)
        for name in ["the rest of tests" if steps else "tests", "nets_tests", "nets", *LATER]:
            self.assertEqual(left_out[name], "the limit of 10 s is over")
            self.assertIn(f"left out: {name}: the limit of 10 s is over\n", printed)
        self.assertTrue((self.folder / "out/table.log").exists())

    def test_a_bench_that_the_limit_cuts_is_no_failure_and_the_last_line_tells(self):
        self.programs(DONE, image=HANG)
        (self.folder / "bin/nets/gpu_bench_nets").unlink()
        running = self.start("--limit", "14")
        _, told = self.finish(running)
        steps, left_out = self.report()
        # As above: at best the bench of images has begun.
        self.assertIn(steps, ({}, {"tests": 0}, {"tests": 0, "image": 124}))
        self.assertEqual(running.returncode, 0, told)
        self.assertEqual(left_out["the rest of image" if "image" in steps else "image"], "the limit of 14 s is over")
        self.assertEqual(told.splitlines()[-1],
                         "bench/gpu/run: the limit of 14 s is over, and some steps were cut or left out, which stand above")

    def test_tests_that_hang_fail_and_leave_time_to_the_other_steps(self):
        self.programs(DONE)
        self.program("test_cuda_device", HANGING_TESTS)
        self.program("nets/test_nets_device", HANG)
        running = self.start("--limit", "0", NAVTALK_GPU_TEST_SECONDS="1")
        printed, told = self.finish(running)
        self.assertEqual(running.returncode, 1, told)
        self.assertIn("3 steps failed", told)
        steps, left_out = self.report()
        for name in ("tests", "nets_tests", "nets_full"):
            self.assertEqual(steps[name], 124)
            self.assertEqual(left_out[f"the rest of {name}"], "a step of tests may take 1 s")
            self.assertIn(f"left out: the rest of {name}: a step of tests may take 1 s\n", printed)
        for name in ("nets_weights", "nets", "image", "norms"):
            self.assertEqual(steps[name], 0)

    def test_nothing_of_an_earlier_run_is_reported(self):
        self.programs(DONE)
        names = ["tests", "nets_tests", "nets_weights", "nets", "image", "norms", "peer", "nets_full", "profile", "infer_gpu", "infer_cpu", "serve",
                 "pipeline_demo", "pipeline", "nvenc", "nets_between", "memcheck", "racecheck", "nets-try", "peer-try", "nvidia-smi"]
        out = self.folder / "out"
        out.mkdir()
        for file in [*(f"{name}.log" for name in names), "table.log", "report.json", "peer.json"]:
            (out / file).write_text(STALE + "\n")
        printed, told = self.finish(self.start("--limit", "0"))
        self.assertNotIn(STALE, printed)
        for file in out.iterdir():
            self.assertNotIn(STALE, file.read_text(), told)
        steps, left_out = self.report()
        self.assertEqual(set(steps) | set(left_out), set(names) - {"nets-try", "peer-try", "nvidia-smi"})

    def test_the_encoder_finds_the_libraries_that_lie_beside_torch(self):
        self.programs(DONE)
        beside = self.folder / "nvidia/cu13/lib"
        beside.mkdir(parents=True)
        self.program("nets/test_nvenc_device", 'echo "$LD_LIBRARY_PATH"\n')
        _, told = self.finish(self.start("--limit", "0"))
        self.assertEqual(self.report()[0]["nvenc"], 0, told)
        path = (self.folder / "out/nvenc.log").read_text().strip()
        self.assertEqual(path.split(":"), [str(self.folder / "bin/nets/lib"), str(self.folder / "torch/lib"), str(beside)])

    def test_after_each_step_there_are_report_and_table(self):
        self.programs(DONE)
        # Each is a step of its own before which another was.
        seen = 'grep -o \'"name": "[a-z_]*"\' "$OUT/report.json" | tail -n 1; test -f "$OUT/table.log"\n'
        self.program("nets/test_nets_device", seen)
        self.program("gpu_bench_norms", seen)
        running = self.start("--limit", "0")
        _, told = self.finish(running)
        self.assertEqual(running.returncode, 0, told)
        for name, before in {"nets_tests": "tests", "nets_full": "nets", "norms": "image"}.items():
            self.assertEqual((self.folder / f"out/{name}.log").read_text(), f'"name": "{before}"\n')

    def test_what_comes_first_is_what_counts_most(self):
        self.programs(DONE)
        running = self.start("--limit", "0")
        _, told = self.finish(running)
        self.assertEqual(running.returncode, 0, told)
        steps, left_out = self.report()
        self.assertEqual(list(steps), ["tests", "nets_tests", "nets_weights", "nets", "nets_full", "image", "norms", "nets_between"])
        self.assertEqual(list(left_out), ["peer", "infer_gpu", "infer_cpu", "serve", "pipeline_demo", "pipeline", "profile", "nvenc", "memcheck",
                                          "racecheck"])

    def test_where_there_are_ncu_and_navtalk_they_are_run_with_the_models(self):
        self.programs(DONE)
        tools = self.folder / "tools"
        tools.mkdir()
        for name, text in {"ncu": PROFILE, "navtalk": NAVTALK}.items():
            (tools / name).write_text("#!/bin/bash\n" + text)
            (tools / name).chmod(0o755)
        for name in ("kernel_times.py", "sound.py"):
            (self.folder / "bench/gpu" / name).write_bytes((ROOT / "bench/gpu" / name).read_bytes())
        (self.folder / "bench/gpu/sessions.py").write_text(SESSIONS)
        running = self.start("--limit", "0", NAVTALK=str(tools / "navtalk"), NAVTALK_MODELS="/some/models", PATH=f"{tools}:{os.environ['PATH']}")
        printed, told = self.finish(running)
        self.assertEqual(running.returncode, 0, told)
        steps, left_out = self.report()
        self.assertEqual(list(steps)[-8:], ["norms", "infer_gpu", "infer_cpu", "serve", "pipeline_demo", "pipeline", "profile", "nets_between"])
        self.assertEqual(set(left_out), {"peer", "nvenc", "memcheck", "racecheck"})
        out = self.folder / "out"
        self.assertEqual((out / "profile.csv").read_text().count("\n"), 3)
        self.assertIn("--profile yes --models /some/models", (out / "profile.log").read_text())
        self.assertRegex(printed, r"\n +2\.000 100\.0% +1  my_kernel\n")
        self.assertIn("--device cuda -o", (out / "infer_gpu.log").read_text())
        self.assertIn("--device cpu --precision fp32 -o", (out / "infer_cpu.log").read_text())
        serve = (out / "serve.log").read_text()
        self.assertIn('devices = ["cuda:0"]\nslots_per_device = 20\n[avatars]\n', serve)
        self.assertIn('\n[models]\npath = "/some/models"\n', serve)
        self.assertRegex(serve, rf"\['[^']*/navtalk', '{out}/serve.toml', ")
        self.assertIn("\n14 of 14 sessions served\n", printed)
        self.assertNotIn("/some/models", (out / "pipeline_demo.log").read_text())
        self.assertEqual(json.loads((out / "pipeline_demo.json").read_text()), {"rows": []})
        self.assertFalse((out / "pipeline.json").exists())
        self.assertIn("--models /some/models --precision fp16 --batch 1,8", (out / "pipeline.log").read_text())

    def test_a_limit_is_a_number(self):
        running = self.start("--limit", "soon")
        _, told = self.finish(running)
        self.assertEqual(running.returncode, 2)
        self.assertIn("--limit takes whole seconds", told)

    def test_a_limit_is_longer_than_what_the_end_needs(self):
        running = self.start("--limit", "8")
        _, told = self.finish(running)
        self.assertEqual(running.returncode, 2)
        self.assertIn("--limit takes more than the 8 s that the end needs", told)


if __name__ == "__main__":
    unittest.main()
