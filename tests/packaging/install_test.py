"""usage: install_test.py BUILD   installs BUILD into a temporary prefix and runs what stands there"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

BUILD = sys.argv.pop(1)


def output(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="navtalk install ")
        cls.prefix = pathlib.Path(cls.folder.name)
        output("cmake", "--install", BUILD, "--prefix", str(cls.prefix))
        cls.navtalk = str(cls.prefix / "bin/navtalk")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_the_module_takes_the_libtorch_of_its_prefix_and_looks_nowhere_else(self):
        module = self.prefix / "lib/navtalk/navtalk-render.so"
        loaded = output("ldd", str(module))
        for library in ("libtorch_cpu.so", "libc10.so", "libgomp.so.1", "libcudart.so.13", "libcupti.so.13"):
            path = re.search(rf"{re.escape(library)} => (.*) \(0x", loaded)
            self.assertIsNotNone(path, library)
            self.assertEqual(pathlib.Path(path[1]).resolve().parent, (self.prefix / "lib/navtalk").resolve())
        self.assertEqual(self.run_paths(module), ["$ORIGIN"])
        self.assertEqual(self.run_paths(self.navtalk), [])

    @staticmethod
    def run_paths(file):
        return re.findall(r"R(?:UN)?PATH.*\[(.*)\]", output("readelf", "-d", str(file)))

    def test_the_program_itself_needs_none_of_it(self):
        self.assertEqual(re.findall(r"lib(?:torch|c10|gomp|av|sw|opencv)\w*", output("ldd", self.navtalk)), [])

    def test_it_computes(self):
        report = json.loads(
            output(self.navtalk, "bench", "image", "--json", "--time", "0", "--size", "512", "--batch", "1")
        )
        self.assertEqual(report["machine"]["libtorch"], "2.11.0")

    def test_demo_and_notices_are_there(self):
        doc = self.prefix / "share/doc/navtalk"
        for path in (
            self.prefix / "share/navtalk/demo/models/musetalkV15/musetalk.json",
            doc / "copyright",
            doc / "THIRD-PARTY.md",
            doc / "licenses/torch-2.11.0/LICENSE",
            doc / "licenses/nvidia_cuda_runtime-13.0.96/License.txt",
            doc / "licenses/nvidia_cuda_cupti-13.0.85/License.txt",
        ):
            self.assertTrue(path.is_file(), path)

    def test_nothing_is_writable_by_others(self):
        for path in self.prefix.rglob("*"):
            self.assertEqual(os.stat(path).st_mode & 0o022, 0, path)


if __name__ == "__main__":
    unittest.main()
