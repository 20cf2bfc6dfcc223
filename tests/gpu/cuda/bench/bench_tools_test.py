"""usage: bench_tools_test.py ROOT   what bench/gpu/run calls beside the benches: kernel_times.py, stand_in_library.py, sound.py, sessions.py"""

import array
import contextlib
import ctypes
import importlib.machinery
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
import wave

ROOT = pathlib.Path(sys.argv.pop(1))
DEADLINE_SECONDS = 120
# As ncu prints it, with lines of its own before the list and the units in its first row.
PROFILE = """==PROF== Connected to process 7 (gpu_bench_nets)
"ID","Process ID","Kernel Name","Grid Size","gpu__time_duration.sum"
"","","","","us"
"0","7","void at::elementwise_kernel<128, 4, void at::gpu_kernel_impl_nocast<at::CUDAFunctor_add<c10::Half>>(at::TensorIteratorBase &, const T1 &)>(int, T3)","(1, 1, 1)","1,000"
"1","7","void navtalk::<unnamed>::apply_kernel<__half, 8>(navtalk::<unnamed>::Work)","(1, 1, 1)","2000"
"2","7","void navtalk::<unnamed>::apply_kernel<__half, 8>(navtalk::<unnamed>::Work)","(2, 1, 1)","1500"
"4","7","void many<void one(int)::[lambda() (instance 1)]>(int)","(1, 1, 1)","0.002"
"5","7","void many<void one(int)::[lambda() (instance 2)]>(int)","(1, 1, 1)","0.001"
"3","7","sm90_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize64x128x64_warpgroupsize1x1x1_g1_execute_segment_k_on_kernel__5x_cudnn","(1, 1, 1)","500"
"""
LIBRARY = """
int plain(void) { return 7; }
int old(void) { return 5; }
int present(void) { return 6; }
__asm__(".symver old,both@V1");
__asm__(".symver present,both@@V2");
int numbers[3] = {1, 2, 3};
__attribute__((weak)) int spare(void) { return 8; }
"""
VERSIONS = "V1 { global: plain; numbers; spare; local: *; };\nV2 { global: both; } V1;\n"
USER = """
#include <stdio.h>
extern int plain(void), both(void), numbers[3];
int main(void) { printf("%d %d %d\\n", plain(), both(), numbers[2]); }
"""
# In place of navtalk: a gateway with a worker of its own, and a bench that asks the gateway whether it is ready.
NAVTALK = """#!/usr/bin/env python3
import http.server, json, os, subprocess, sys, threading, time, urllib.request
words = sys.argv[1:]
if "--worker" in words:
    open(os.environ["BEGUN"], "w").write("worker\\n")
    time.sleep(1200)
elif "pool" in words:
    print("GPU      STATE\\nlocal-1  1 running\\n\\n1 GPU")
elif "bench" in words:
    urllib.request.urlopen(words[words.index("--url") + 1] + "/readyz").close()
    open(os.environ["BEGUN"], "w").write("bench\\n")
    if os.environ["BENCH"] == "hang":
        time.sleep(1200)
    print(json.dumps({"rows": [{"name": "latency", "median": 80.4, "p95": 90, "p99": 99}],
                      "sessions": {"wanted": int(words[words.index("--sessions") + 1]), "served": 3},
                      "pictures": {"per_second": 24.5, "worst_second": 23}}))
    sys.exit(int(os.environ["BENCH"]))
else:
    asked = 0
    class Gateway(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            global asked
            asked += 1
            self.send_response(503 if asked < 3 else 200)
            self.end_headers()
        def log_message(self, *_):
            pass
    server = http.server.HTTPServer(("127.0.0.1", 0), Gateway)
    subprocess.Popen([sys.executable, __file__, "serve", "--worker", "--config", words[1]], start_new_session=True)
    print(f"navtalk serves http://127.0.0.1:{server.server_port}, for this machine only", flush=True)
    server.serve_forever()
"""


class Tools(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def tool(self, name, *arguments):
        return subprocess.run([sys.executable, ROOT / "bench/gpu" / name, *arguments], capture_output=True, text=True, check=False)

    def test_a_profile_becomes_a_table_of_kernels_the_longest_first(self):
        profile = self.folder / "profile.csv"
        profile.write_text(PROFILE)
        done = self.tool("kernel_times.py", profile)
        self.assertEqual(done.stderr, "")
        self.assertEqual([line.split(maxsplit=3) for line in done.stdout.splitlines()], [
            ["ms", "share", "calls", "kernel"],
            ["3.500", "70.0%", "2", "navtalk::apply_kernel<__half, 8>"],
            ["1.000", "20.0%", "1", "elementwise_kernel CUDAFunctor_add<Half>"],
            ["0.500", "10.0%", "1", "sm90_xmma_fprop 64x128x64 segment_k"],
            ["0.000", "0.0%", "1", "many<void one(int)::[lambda() (instance 1)]>"],
            ["0.000", "0.0%", "1", "many<void one(int)::[lambda() (instance 2)]>"],
            ["5.000", "100.0%", "6", "together"]])

    def test_kernels_beyond_the_rows_are_one_row(self):
        profile = self.folder / "profile.csv"
        profile.write_text(PROFILE)
        lines = [line.split(maxsplit=3) for line in self.tool("kernel_times.py", profile, "1").stdout.splitlines()]
        self.assertEqual(lines[2:], [["1.500", "30.0%", "4", "4 others"], ["5.000", "100.0%", "6", "together"]])

    def test_without_a_kernel_there_is_no_table(self):
        profile = self.folder / "profile.csv"
        profile.write_text("==ERROR== ERR_NVGPUCTRPERM\n")
        done = self.tool("kernel_times.py", profile)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("no kernel was profiled", done.stderr)

    def compiled(self, file, *arguments):
        subprocess.run(["gcc", *arguments, "-o", file], check=True, cwd=self.folder)

    def test_a_stand_in_has_the_librarys_symbols_and_versions_and_returns_0(self):
        (self.folder / "library.c").write_text(LIBRARY)
        (self.folder / "versions").write_text(VERSIONS)
        (self.folder / "user.c").write_text(USER)
        real, other = self.folder / "real", self.folder / "other"
        real.mkdir()
        other.mkdir()
        self.compiled(real / "libthing.so.3", "-shared", "-fPIC", "library.c", "-Wl,-soname,libthing.so.3", "-Wl,--version-script=versions")
        # Not a copy of the variable in the program, which has its size from the library that it was linked with.
        self.compiled("user", "user.c", "-fPIE", "-pie", real / "libthing.so.3")
        done = self.tool("stand_in_library.py", real / "libthing.so.3", other / "libthing.so.3")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for folder, printed in ((real, "7 6 3\n"), (other, "0 0 0\n")):
            ran = subprocess.run([self.folder / "user"], env={"LD_LIBRARY_PATH": str(folder), "LD_BIND_NOW": "1"}, capture_output=True, text=True,
                                 check=False)
            self.assertEqual((ran.stdout, ran.stderr), (printed, ""))
        # What a template gives to several libraries is found in another one.
        self.assertTrue(hasattr(ctypes.CDLL(str(real / "libthing.so.3")), "spare"))
        probe = "import ctypes, sys; sys.exit(hasattr(ctypes.CDLL(sys.argv[1]), 'spare'))"
        self.assertEqual(subprocess.run([sys.executable, "-c", probe, other / "libthing.so.3"], check=False).returncode, 0)

    def test_the_sound_is_as_long_as_asked_and_is_heard(self):
        file = self.folder / "sound.wav"
        self.assertEqual(self.tool("sound.py", file, "1.5").returncode, 0)
        with wave.open(str(file)) as sound:
            self.assertEqual((sound.getframerate(), sound.getnchannels(), sound.getsampwidth(), sound.getnframes()), (16000, 1, 2, 24000))
            samples = array.array("h", sound.readframes(24000))
        self.assertGreater(max(samples), 8000)
        self.assertLess(max(samples), 12001)

    def sessions(self, bench):
        navtalk = self.folder / "navtalk"
        navtalk.write_text(NAVTALK)
        navtalk.chmod(0o755)
        self.config = self.folder / "serve.toml"
        self.config.touch()
        begun = self.folder / "begun"
        os.mkfifo(begun)
        self.begun = os.open(begun, os.O_RDWR)
        self.addCleanup(os.close, self.begun)
        running = subprocess.Popen(
            [sys.executable, ROOT / "bench/gpu/sessions.py", navtalk, self.config, "sound.wav", "--sessions", "4"], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ | {"BENCH": bench, "BEGUN": str(begun)})
        self.addCleanup(self.end, running)
        return running

    def processes(self):
        for file in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):  # it has ended meanwhile
                if os.fsencode(self.config) in file.read_bytes().split(b"\0"):
                    yield int(file.parent.name)

    def end(self, running):
        running.kill()
        running.wait(DEADLINE_SECONDS)
        running.stdout.close()
        running.stderr.close()
        for process in self.processes():
            os.kill(process, signal.SIGKILL)

    def wait_for(self, *names):
        told = b""
        deadline = time.monotonic() + DEADLINE_SECONDS
        while not all(name in told.decode().split() for name in names):
            self.assertLess(time.monotonic(), deadline, f"only {told} began")
            if select.select([self.begun], [], [], 0.1)[0]:
                told += os.read(self.begun, 100)

    def nothing_is_left(self):
        deadline = time.monotonic() + DEADLINE_SECONDS
        while list(self.processes()):
            self.assertLess(time.monotonic(), deadline, "the gateway or its worker still runs")
            time.sleep(0.05)

    def package(self, folder, name, lines, library=None):
        (folder / name).mkdir(parents=True)
        (folder / name / "__init__.py").write_text(lines)
        if library:
            (folder / name / library).touch()
        info = folder / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "top_level.txt").write_text(name + "\n")

    def test_the_reference_takes_the_carried_packages_and_hides_what_they_were_not_made_with(self):
        carried, own = self.folder / "carried", self.folder / "own"
        for name in ("plain_one", "compiled_one", "for_another_python"):
            library = {"compiled_one": "part" + importlib.machinery.EXTENSION_SUFFIXES[0],
                       "for_another_python": "part.cpython-300-x86_64-linux-gnu.so"}.get(name)
            self.package(carried, name, "place = 'carried'\n", library)
            self.package(own, name, "place = 'own'\n")
        self.package(own, "further_one", "raise RuntimeError\n")
        program = """
import importlib.util, sys
import python_reference
python_reference.take_along(sys.argv[1])
import plain_one, compiled_one, for_another_python
print(plain_one.place, compiled_one.place, for_another_python.place, importlib.util.find_spec("further_one"))
"""
        ran = subprocess.run([sys.executable, "-c", program, carried], stdout=subprocess.PIPE, text=True, check=True,
                             env={**os.environ, "PYTHONPATH": f"{own}:{ROOT / 'bench'}"})
        self.assertEqual(ran.stdout, "carried carried own None\n")

    def test_sessions_wait_for_the_gateway_report_and_end_it_with_its_worker(self):
        running = self.sessions("0")
        self.wait_for("worker")
        printed, told = running.communicate(timeout=DEADLINE_SECONDS)
        self.assertEqual(running.returncode, 0, told)
        self.assertEqual(json.loads(printed)["sessions"], {"wanted": 4, "served": 3})
        self.assertEqual(told.splitlines(), ["GPU      STATE", "local-1  1 running",
                                             "3 of 4 sessions served; least session 24.50 pictures a second, its worst second 23",
                                             "latency 80 ms in the middle, 90 ms p95, 99 ms p99"])
        self.nothing_is_left()

    def test_sessions_of_a_bench_that_fails_fail(self):
        running = self.sessions("1")
        self.wait_for("worker")
        _, told = running.communicate(timeout=DEADLINE_SECONDS)
        self.assertEqual(running.returncode, 1, told)
        self.nothing_is_left()

    def test_sigterm_ends_sessions_gateway_and_worker(self):
        running = self.sessions("hang")
        self.wait_for("worker", "bench")
        running.terminate()
        printed, told = running.communicate(timeout=DEADLINE_SECONDS)
        self.assertEqual((running.returncode, printed), (143, ""), told)
        self.nothing_is_left()


if __name__ == "__main__":
    unittest.main()
