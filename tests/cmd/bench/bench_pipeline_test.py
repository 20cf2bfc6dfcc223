"""usage: bench_pipeline_test.py NAVTALK   checks what `navtalk bench pipeline` prints for the demo model"""

import json
import subprocess
import sys
import unittest

NAVTALK = sys.argv.pop(1)
QUIET = [NAVTALK, "--progress", "none"]


def run(*arguments):
    return subprocess.run(
        [*QUIET, *arguments[:-1], "bench", "pipeline", "--time", "0", "--threads", "1", *arguments[-1]],
        capture_output=True,
        text=True,
        check=False,
    )


class BenchPipeline(unittest.TestCase):
    def test_json_has_every_stage_and_frames_per_second_of_whole_frames(self):
        done = run("--json", ["--precision", "fp32", "--batch", "1,2"])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        report = json.loads(done.stdout)
        self.assertEqual(report["machine"]["threads"], 1)
        rows = {(row["name"], row["batch"]): row for row in report["rows"]}
        self.assertLessEqual({("log-mel", 1), ("whisper", 1), ("audio, live step", 1)}, set(rows))
        for batch in (1, 2):
            for stage in ("unet", "decoder", "post-process 720p", "frame"):
                row = rows[stage, batch]
                self.assertEqual((row["precision"], row["unit"]), ("fp32", "ms per frame"))
                self.assertGreater(row["median"], 0)
                self.assertGreaterEqual(row["p99"], row["median"])
            frame = rows["frame", batch]
            self.assertAlmostEqual(frame["frames_per_second"] * frame["median"], 1000, places=3)

    def test_each_format_of_this_cpu_is_held_against_fp32(self):
        done = run("--json", ["--batch", "1"])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        report = json.loads(done.stdout)
        formats = {row["precision"] for row in report["rows"] if row["name"] == "frame"}
        self.assertEqual({one["precision"] for one in report["against_fp32"]}, formats - {"fp32"})
        self.assertEqual([row["name"] for row in report["rows"]].count("log-mel"), 1)
        for one in report["against_fp32"]:
            self.assertGreater(one["psnr_db"], 30)
            self.assertGreater(one["ssim"], 0.9)
            self.assertLess(one["ssim"], 1)
        for row in report["rows"]:
            if row["name"] in ("whisper", "unet", "decoder", "frame"):
                self.assertGreater(row["roofline_percent"], 0)
        if report["gpu"].get("missing"):
            self.assertEqual({row["device"] for row in report["rows"]}, {"cpu"})

    def test_a_gpu_that_is_named_has_to_be_there(self):
        done = run(["--device", "cuda:99"])
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertIn("cuda:99", done.stderr)

    def test_the_text_says_why_there_is_no_gpu_column(self):
        done = run(["--device", "cpu", "--precision", "fp32", "--batch", "1"])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("no GPU column: not asked for", done.stdout)
        self.assertNotIn("cpu/gpu", done.stdout)

    def test_a_missing_model_folder_is_named(self):
        done = run(["--models", "/nonexistent/models"])
        self.assertEqual((done.returncode, done.stdout), (4, ""))
        self.assertIn("/nonexistent/models", done.stderr)

    def test_fp16_is_refused_on_a_cpu(self):
        done = run(["--precision", "fp16"])
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertIn("fp16", done.stderr)


if __name__ == "__main__":
    unittest.main()
