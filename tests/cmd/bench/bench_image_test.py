"""usage: bench_image_test.py NAVTALK   checks what `navtalk bench image` prints, as text and as JSON"""

import json
import subprocess
import sys
import unittest

NAVTALK = sys.argv.pop(1)
QUIET = [NAVTALK, "--progress", "none"]


def run(*arguments):
    return subprocess.run(
        [*QUIET, "bench", "image", "--time", "0", *arguments], capture_output=True, text=True, check=False
    )


class BenchImage(unittest.TestCase):
    def test_json_names_the_machine_and_every_operation_at_every_size_and_batch(self):
        done = run("--json", "--size", "512", "--batch", "1,2")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        report = json.loads(done.stdout)
        self.assertEqual(set(report), {"machine", "gpu", "rows"})
        self.assertLessEqual({"cpu", "isa", "cores", "threads", "memory_gib", "libtorch"}, set(report["machine"]))
        places = [(row["name"], row["area"], row["batch"]) for row in report["rows"]]
        self.assertEqual(len(places), len(set(places)))
        for batch in (1, 2):
            for operation in ("resize, linear", "gaussian blur 5x5", "unsharp mask", "blend", "bgr to nv12"):
                for area in ("frame", "face"):
                    self.assertIn((operation, area, batch), places)
            self.assertIn(("post-process", "frame", batch), places)
        for row in report["rows"]:
            self.assertEqual((row["size"], row["unit"]), ("512", "ms per picture"))
            self.assertGreater(row["median"], 0)
            self.assertGreaterEqual(row["p99"], row["median"])

    def test_text_has_a_line_for_each_row_of_the_json(self):
        rows = json.loads(run("--json", "--size", "512", "--batch", "1").stdout)["rows"]
        lines = run("--size", "512", "--batch", "1").stdout.splitlines()
        for row in rows:
            self.assertTrue(any(line.startswith(row["name"] + " ") for line in lines), row["name"])

    def test_the_gpu_is_left_out_where_it_is_not_asked_for(self):
        report = json.loads(run("--json", "--size", "512", "--batch", "1", "--device", "cpu").stdout)
        self.assertEqual(report["gpu"], {"missing": "not asked for"})
        self.assertEqual({row["device"] for row in report["rows"]}, {"cpu"})

    def test_without_a_gpu_auto_says_why_and_cuda_is_refused(self):
        automatic = run("--json", "--size", "512", "--batch", "1")
        report = json.loads(automatic.stdout)
        if "missing" not in report["gpu"]:
            self.skipTest("this machine has a GPU")
        why = report["gpu"]["missing"]
        self.assertIn("CUDA", why)
        self.assertIn(why, run("--size", "512", "--batch", "1").stdout)
        refused = run("--device", "cuda")
        self.assertEqual((refused.returncode, refused.stdout), (3, ""))
        self.assertIn("device 'cuda': " + why, refused.stderr)

    def test_an_unknown_size_is_bad_usage(self):
        done = run("--size", "4k")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("720p", done.stderr)


if __name__ == "__main__":
    unittest.main()
