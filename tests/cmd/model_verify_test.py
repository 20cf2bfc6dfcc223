"""usage: model_verify_test.py NAVTALK GOLDENS   `navtalk model verify`, through the shell, on tests/golden/"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

NAVTALK, GOLDENS = sys.argv.pop(1), pathlib.Path(sys.argv.pop(1))
# As navtalk asks for it: oneDNN packs bf16 weights only with AVX-512.
HAS_BF16 = " avx512bw " in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")


def verify(*arguments):
    command = [NAVTALK, "model", "verify", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


class ModelVerify(unittest.TestCase):
    def test_a_model_that_agrees_exits_with_0_and_names_every_group(self):
        done = verify(GOLDENS / "deep", GOLDENS / "deep.safetensors")
        self.assertEqual(done.returncode, 0, done.stderr)
        for word in ("encode.latents", "unet.output", "compose.output", "skipped", "pipeline", "within tolerance"):
            self.assertIn(word, done.stdout)

    def test_json_is_one_object_with_a_result_for_each_tensor(self):
        done = verify(GOLDENS / "deep", GOLDENS / "deep.safetensors", "--precision", "fp32", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        self.assertTrue(report["ok"])
        self.assertEqual(report["precision"], "fp32")
        results = {r.get("tensor", r["group"]): r for r in report["results"]}
        self.assertEqual(results["unet.output"]["status"], "ok")
        self.assertIsNone(results["compose.output"]["psnr_db"])
        self.assertEqual(results["mel"]["status"], "skipped")
        self.assertIn("audio.samples", results["mel"]["reason"])

    def test_bf16_is_computed_where_it_is_asked_for_and_nets_are_wide_enough(self):
        done = verify(GOLDENS / "wide", GOLDENS / "wide.safetensors", "--precision", "bf16", "--json")
        if not HAS_BF16:
            self.assertEqual(done.returncode, 3, done.stdout)
            self.assertIn("bf16 needs a CPU with AVX-512", done.stderr)
            return
        self.assertEqual(done.returncode, 0, done.stderr)
        results = {r.get("tensor", r["group"]): r for r in json.loads(done.stdout)["results"]}
        self.assertGreater(results["decode.raw"]["max_difference"], 1e-4)

    def test_a_changed_weight_exits_with_1(self):
        with tempfile.TemporaryDirectory() as folder:
            models = pathlib.Path(folder, "models")
            shutil.copytree(GOLDENS / "wide", models)
            weights = models / "musetalkV15" / "unet.safetensors"
            data = bytearray(weights.read_bytes())
            data[-1] ^= 0x80
            weights.chmod(0o644)
            weights.write_bytes(data)
            done = verify(models, GOLDENS / "wide.safetensors")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("DIFFERS", done.stdout)
        self.assertIn("OUT OF TOLERANCE", done.stdout)

    def test_what_is_no_golden_file_is_bad_input(self):
        weights = GOLDENS / "wide" / "whisper" / "model.safetensors"
        done = verify(GOLDENS / "wide", weights, "--json")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(json.loads(done.stdout)["error"]["code"], "invalid")
        self.assertIn("navtalk-golden-1", done.stdout)

    def test_a_golden_file_of_another_model_is_bad_input(self):
        done = verify(GOLDENS / "odd", GOLDENS / "wide.safetensors")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("was the file made from this model?", done.stderr)

    def test_files_that_are_not_there_exit_with_4(self):
        for folder, file in (("wide", "absent"), ("absent", "deep.safetensors")):
            done = verify(GOLDENS / folder, GOLDENS / file)
            self.assertEqual(done.returncode, 4, done.stderr)
            self.assertIn("absent: no such ", done.stderr)

    def test_fp16_is_refused_on_a_cpu(self):
        done = verify(GOLDENS / "deep", GOLDENS / "deep.safetensors", "--precision", "fp16")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("fp16", done.stderr)


if __name__ == "__main__":
    unittest.main()
