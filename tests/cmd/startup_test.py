"""usage: startup_test.py NAVTALK   commands that compute nothing load no nets, no FFmpeg and no OpenCV; the module that does is checked"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
import wave

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
MODULE = PROGRAM.parent.parent / "lib/navtalk/navtalk-render.so"
DEMO = pathlib.Path(__file__).resolve().parents[2] / "assets/demo"
HEAVY = re.compile(r"navtalk-render|libtorch|libc10|libgomp|libav|libsw|libsoxr|libopencv")


def run(program, *arguments, **variables):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NAVTALK_")}
    with tempfile.TemporaryDirectory(prefix="navtalk-startup-") as folder:
        environment.update({"STATE_DIRECTORY": folder, "NAVTALK_POOL_CLOUD": "off", **variables})
        return subprocess.run([program, *arguments], capture_output=True, text=True, env=environment, cwd=folder, check=False)


def loaded(*arguments):
    """The shared objects that a command loads, at its start or later."""
    done = run(PROGRAM, *arguments, LD_DEBUG="files")
    return done, set(re.findall(r"calling init: (\S+)", done.stderr))


class LightCommands(unittest.TestCase):
    def test_they_load_none_of_the_heavy_libraries(self):
        for command in (
            ["--version"],
            ["--help"],
            ["completions", "bash"],
            ["config", "show"],
            ["fix-filenames", "."],
            ["avatar", "list", str(DEMO / "avatars")],
            ["avatar", "show", str(DEMO / "avatars/ada")],
            ["model", "check", "--no-hash", str(DEMO / "models")],
            ["model", "push", "--name", "demo", "--source", "store", str(DEMO / "models")],
            ["avatar", "push", "--source", "store", str(DEMO / "avatars/ada")],
            ["avatar", "pull", "--help"],
            ["pool", "status"],
            ["job", "list"],
            ["job", "status"],
            ["pool", "scale"],
            ["bench", "scaler", "--help"],
            ["bench", "serve", "--help"],
        ):
            with self.subTest(command=command):
                done, libraries = loaded(*command)
                self.assertEqual(done.returncode, 0, done.stderr[-2000:])
                self.assertTrue(any("libc.so" in name for name in libraries), "the loader's report was not understood")
                self.assertEqual([name for name in libraries if HEAVY.search(name)], [])

    def test_nor_do_wrong_arguments_of_a_command_that_needs_them(self):
        for status, message, command in (
            (2, "give the speech", ["infer"]),
            (2, "exclude each other", ["infer", "--audio", "a.wav", "--text", "a"]),
            (4, "absent.wav: there is no such file", ["infer", "--audio", "absent.wav"]),
            (4, "nobody", ["infer", "--text", "a", "--avatar", "nobody"]),
        ):
            with self.subTest(command=command):
                done, libraries = loaded(*command)
                self.assertEqual(done.returncode, status, done.stderr[-2000:])
                self.assertIn(message, done.stderr)
                self.assertEqual([name for name in libraries if HEAVY.search(name)], [])

    def test_a_running_gateway_maps_none_of_them(self):
        with tempfile.TemporaryDirectory(prefix="navtalk-startup-") as folder:
            environment = dict(os.environ, STATE_DIRECTORY=folder, NAVTALK_LOCAL_DEVICES="none", NAVTALK_POOL_CLOUD="off")
            command = [PROGRAM, "--json", "serve", "--listen", "127.0.0.1:0"]
            with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment) as gateway:
                try:
                    self.assertIn("url", json.loads(gateway.stdout.readline()))
                    maps = pathlib.Path(f"/proc/{gateway.pid}/maps").read_text(encoding="utf-8")
                finally:
                    gateway.send_signal(signal.SIGTERM)
        self.assertIn(str(PROGRAM), maps)
        self.assertIsNone(HEAVY.search(maps))


class MediaModule(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="navtalk-startup-")
        self.addCleanup(folder.cleanup)
        self.command = ("job", "probe", str(pathlib.Path(folder.name, "speech.wav")))
        with wave.open(self.command[-1], "wb") as speech:
            speech.setparams((1, 2, 16000, 0, "NONE", ""))
            speech.writeframes(bytes(32000))

    def test_what_measures_speech_loads_ffmpeg_and_neither_nets_nor_opencv(self):
        done, libraries = loaded(*self.command)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        self.assertTrue(any("navtalk-media" in name for name in libraries))
        self.assertTrue(any("libavcodec" in name for name in libraries))
        self.assertEqual([name for name in libraries if re.search(r"navtalk-render|libtorch|libc10|libopencv", name)], [])

    def test_every_symbol_that_it_leaves_open_is_found(self):
        done = run(PROGRAM, *self.command, LD_BIND_NOW="1")
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class Module(unittest.TestCase):
    COMMAND = ("bench", "image", "--time", "0", "--size", "512", "--batch", "1")

    def test_every_symbol_that_it_leaves_open_is_found(self):
        done = run(PROGRAM, *self.COMMAND, LD_BIND_NOW="1")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_nothing_of_navtalk_stands_in_it_and_in_the_program(self):
        def defined(file):
            lines = subprocess.run(["nm", "-D", "--defined-only", file], capture_output=True, text=True, check=True).stdout
            return set(re.findall(r"^\w+ [TDBR] (\S+)$", lines, re.MULTILINE))

        ours = {name for name in defined(PROGRAM) & defined(MODULE) if "navtalk" in name}
        self.assertEqual(ours, set())
        self.assertTrue(any("navtalk" in name for name in defined(PROGRAM)))

    def test_one_that_is_missing_or_of_another_build_is_refused_by_name(self):
        with tempfile.TemporaryDirectory(prefix="navtalk install ") as folder:
            prefix = pathlib.Path(folder)
            (prefix / "bin").mkdir()
            (prefix / "lib/navtalk").mkdir(parents=True)
            program, module = prefix / "bin/navtalk", prefix / "lib/navtalk/navtalk-render.so"
            shutil.copy(PROGRAM, program)
            self.assertEqual(run(program, "--version").returncode, 0)

            def refused(*parts):
                done = run(program, *self.COMMAND)
                self.assertEqual(done.returncode, 1, done.stderr)
                for part in (str(module), *parts):
                    self.assertIn(part, done.stderr)

            refused("is missing", "install navtalk's files again")
            module.write_bytes(b"not a library")
            refused("cannot be loaded")
            # The same module with another hash: 64 digits that stand in both files.
            code, of_program = MODULE.read_bytes(), PROGRAM.read_bytes()
            hashes = {found for found in re.findall(rb"\0([0-9a-f]{64})\0", of_program) if found in code}
            self.assertEqual(len(hashes), 1, hashes)
            build_id = hashes.pop()
            module.write_bytes(code.replace(build_id, build_id[::-1]))
            refused("belongs to another build")


if __name__ == "__main__":
    unittest.main()
