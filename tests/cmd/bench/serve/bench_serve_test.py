"""usage: bench_serve_test.py NAVTALK   a short run of `navtalk bench serve` against gateways that it starts: what it reports, not how fast"""

import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "server"))

from synthetic_voice import synthetic_voice  # noqa: E402

NAVTALK = sys.argv.pop(1)
PATIENCE_S = 240
ROW = {"name", "unit", "median", "p95", "p99", "longest", "mean", "count"}
MOMENTS = ("before", "opened", "played", "after")


def wav(folder, samples=16000, rate=16000):
    """A voice of the test's own, so that it needs no synthesiser."""
    path = pathlib.Path(folder, "voice.wav")
    data = synthetic_voice(samples, rate)
    head = struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + len(data), b"WAVE", b"fmt ", 16, 1, 1, rate, 2 * rate, 2, 16, b"data", len(data))
    path.write_bytes(head + data)
    return str(path)


def run(*arguments, **variables):
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("NAVTALK_")}
    return subprocess.run(
        [NAVTALK, "bench", "serve", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
        env={**inherited, **variables},
    )


def has_processes_with(variable):
    """Whether a process of this machine was started with NAME=VALUE."""
    for entry in pathlib.Path("/proc").glob("[0-9]*/environ"):
        try:
            if variable.encode() in entry.read_bytes().split(b"\0"):
                return True
        except OSError:
            continue
    return False


class BenchServe(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_a_session_is_measured_from_its_first_picture_to_its_end(self):
        arguments = ["--duration", "2", "--interrupts", "1", "--connects", "2", "--width", "160", "--json"]
        done = run("--audio", wav(self.folder), *arguments, BENCH_SERVE_TEST=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        end = time.monotonic() + PATIENCE_S
        while has_processes_with(f"BENCH_SERVE_TEST={self.folder}"):
            self.assertLess(time.monotonic(), end, "a process of the run is left")
            time.sleep(0.02)
        report = json.loads(done.stdout)
        rows = {row["name"]: row for row in report["rows"]}
        self.assertEqual(
            set(rows),
            {"latency", "first picture", "session ready", "interrupt, silent", "interrupt, still", "connect, first picture"},
        )
        for row in rows.values():
            self.assertEqual(set(row), ROW)
            self.assertLessEqual(row["median"], row["p95"])
            self.assertLessEqual(row["p95"], row["longest"])
        self.assertGreater(rows["latency"]["median"], 0)
        self.assertEqual(rows["connect, first picture"]["count"], 2)
        sound = report["sound"]
        self.assertEqual((sound["sent_samples"], sound["returned_samples"] + sound["shortened_samples"], sound["altered_samples"]), (32000, 32000, 0))
        self.assertGreater(report["pictures"]["received"], 0)
        self.assertGreater(report["pictures"]["key"], 0)
        self.assertEqual(report["sessions"]["problems"], [])
        self.assertEqual([process["name"] for process in report["processes"]][0], "gateway")
        self.assertEqual(len(report["processes"]), 2)
        for process in report["processes"]:
            for moment in MOMENTS:
                self.assertEqual(set(process[moment]), {"threads", "descriptors", "resident_bytes", "processor_s"})
        self.assertIn("encode", [stage["name"] for stage in report["stages"]])
        self.assertTrue(report["settled"])

    def test_sessions_are_relayed_from_a_stand_in_worker(self):
        done = run("--relay", "3", "--duration", "1", "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        report = json.loads(done.stdout)
        rows = {row["name"]: row for row in report["rows"]}
        self.assertEqual(set(rows), {f"{way} to {end}" for way in ("gateway", "direct") for end in ("client", "worker")})
        self.assertEqual(report["sessions"]["served"], 3)
        relay = report["relay"]
        # Of each session 50 messages to the worker; pictures and sound of some slots to the client.
        self.assertGreater(relay["messages"], 150)
        self.assertGreater(relay["seconds"], 0)
        self.assertEqual(rows["gateway to worker"]["count"], 150)
        self.assertGreaterEqual(relay["gateway_us_per_message"], 0)

    def test_a_gateway_with_an_address_for_operators_tells_there_what_it_does(self):
        variables = {"STATE_DIRECTORY": self.folder}
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("NAVTALK_")}
        listen = ["--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"]
        with subprocess.Popen(
            [NAVTALK, "--json", "serve", *listen, "--drain-s", "0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**inherited, **variables},
        ) as gateway:
            try:
                told = json.loads(gateway.stdout.readline())
                short = ["--audio", wav(self.folder), "--duration", "1", "--width", "160", "--json"]
                asked = {}
                # First the one that waits until a worker is ready.
                for admin in (["--admin-url", told["admin_url"]], []):
                    done = run("--url", told["url"], *admin, *short, **variables)
                    self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
                    report = json.loads(done.stdout)
                    asked[bool(admin)] = [stage["name"] for stage in report["stages"]]
                self.assertIn("encode", asked[True])
                self.assertEqual(asked[False], [])
            finally:
                gateway.terminate()

    def test_text_names_the_machine_and_every_figure(self):
        done = run("--audio", wav(self.folder), "--duration", "1", "--width", "160")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        for words in ("1 of 1 sessions", "latency", "first picture", "samples came back", "stage encode", "gateway", "threads"):
            self.assertIn(words, done.stdout)

    def test_a_worker_that_cannot_start_ends_the_bench_with_its_reason(self):
        pathlib.Path(self.folder, "demo").mkdir()
        done = run("--audio", wav(self.folder), NAVTALK_DATA_DIR=self.folder)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("the gateway's workers failed", done.stderr)
        self.assertIn(self.folder, done.stderr)

    def test_what_cannot_be_measured_is_refused(self):
        text = pathlib.Path(self.folder, "text.wav")
        text.write_text("no sound", encoding="ascii")
        done = run("--audio", str(text))
        self.assertEqual(done.returncode, 3)
        self.assertIn("not a WAV file", done.stderr)
        done = run("--audio", wav(self.folder), "--url", "http://127.0.0.1:9", STATE_DIRECTORY=self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no session can be opened", done.stderr)
        done = run("--admin-url", "http://127.0.0.1:9")
        self.assertEqual(done.returncode, 2)
        done = run("--relay", "2", "--url", "http://127.0.0.1:9")
        self.assertEqual(done.returncode, 2)


if __name__ == "__main__":
    unittest.main()
