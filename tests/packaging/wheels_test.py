"""usage: wheels_test.py ROOT   scripts/wheels with wheels of the test's own making, and what packaging/cuda-libraries takes out of them"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(sys.argv.pop(1))


def make_wheel(folder, name, files):
    """A wheel NAME 1.0 with files {path: content}, and the list that says how large each is."""
    package = name.replace("-", "_")
    info = f"{package}-1.0.dist-info"
    content = dict(files)
    content[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
    content[f"{info}/WHEEL"] = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-manylinux2014_x86_64\n"
    record = "".join(f"{path},,{len(text)}\n" for path, text in content.items())
    content[f"{info}/RECORD"] = record + f"{info}/RECORD,,\n"
    with zipfile.ZipFile(folder / f"{package}-1.0-py3-none-manylinux2014_x86_64.whl", "w") as wheel:
        for path, text in content.items():
            wheel.writestr(path, text)


class Wheels(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = pathlib.Path(folder.name)
        self.target = self.top / "cache/some"
        self.index = self.top / "index"
        self.index.mkdir()
        make_wheel(self.index, "first-part", {"shared/lib/one.so": "one"})
        make_wheel(self.index, "second-part", {"shared/lib/two.so": "two", "other/three.so": "three"})

    def environment(self):
        return dict(os.environ, NAVTALK_CACHE=str(self.top / "cache"), PIP_NO_INDEX="1", PIP_FIND_LINKS=str(self.index))

    def wheels(self, stamp, *wheels):
        command = [ROOT / "scripts/wheels", self.target, stamp, *wheels]
        return subprocess.run(command, env=self.environment(), capture_output=True, text=True, check=False)

    def read(self, path):
        return (self.target / path).read_text()

    def test_a_second_set_comes_beside_the_first_and_nothing_is_fetched_twice(self):
        done = self.wheels("a", "first-part==1.0")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.read("shared/lib/one.so"), "one")
        (self.index / "first_part-1.0-py3-none-manylinux2014_x86_64.whl").unlink()
        done = self.wheels("b", "first-part==1.0", "second-part==1.0")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([self.read(path) for path in ("shared/lib/one.so", "shared/lib/two.so")], ["one", "two"])
        done = self.wheels("b", "first-part==1.0", "second-part==1.0")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(sorted(path.name for path in self.target.parent.iterdir()), ["some", "some.lock"])

    def test_what_a_broken_unpacking_left_is_fetched_again(self):
        self.assertEqual(self.wheels("a", "second-part==1.0").returncode, 0)
        (self.target / "other/three.so").write_text("thr")
        (self.target / ".complete-a").unlink()
        done = self.wheels("a", "second-part==1.0")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("fetching second-part==1.0", done.stderr)
        self.assertEqual(self.read("other/three.so"), "three")

    def test_a_wheel_that_is_not_to_be_had_leaves_what_is_there(self):
        self.assertEqual(self.wheels("a", "first-part==1.0").returncode, 0)
        done = self.wheels("b", "missing-part==1.0")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("missing-part", done.stderr)
        self.assertEqual(self.read("shared/lib/one.so"), "one")
        self.assertFalse((self.target / ".complete-b").exists())
        self.assertFalse(pathlib.Path(f"{self.target}.partial").exists())


class CudaLibraries(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = pathlib.Path(folder.name)
        (self.top / "to").mkdir()

    def copy(self):
        command = [ROOT / "packaging/cuda-libraries", self.top / "to"]
        environment = dict(os.environ, NAVTALK_CACHE=str(self.top))
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    def test_they_come_into_one_folder_without_what_profilers_need(self):
        loaded = {
            "torch/lib": ["libc10_cuda.so", "libtorch_cuda.so", "libtorch_cuda_linalg.so", "libtorch_nvshmem.so"],
            "nvidia/cu13/lib": ["libcublas.so.13", "libcublasLt.so.13"],
            "nvidia/cudnn/lib": ["libcudnn.so.9", "libcudnn_ops.so.9"],
            "nvidia/nccl/lib": ["libnccl.so.2"],
        }
        others = {"torch/lib": ["libtorch_python.so"], "nvidia/cu13/lib": ["libnvperf_host.so", "libcudart_static.a"]}
        for files in (loaded, others):
            for folder, names in files.items():
                for name in names:
                    path = self.top / "libtorch-2.11.0" / folder / name
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(name)
        done = self.copy()
        self.assertEqual(done.returncode, 0, done.stderr)
        expected = sorted(name for names in loaded.values() for name in names)
        self.assertEqual(sorted(path.name for path in (self.top / "to").iterdir()), expected)

    def test_what_was_not_fetched_is_named_with_the_remedy(self):
        done = self.copy()
        self.assertEqual(done.returncode, 1)
        self.assertIn("libtorch_cuda.so is not under", done.stderr)
        self.assertIn("scripts/libtorch --cuda", done.stderr)


if __name__ == "__main__":
    unittest.main()
