"""Data and nets of a work folder belong together, or are refused."""

import contextlib
import io
import os
import pathlib
import tempfile
import types
import unittest

import tools_path  # noqa: F401
import numpy as np
import torch

import provenance
from files import load_state, save_arrays, save_state
from nets.audio_encoder import positional_table
from program import Failure
from training import contexts, train_audio, train_unet
from training.run import Run

NETS = {"audio": 20, "vae": 5}


class WorkFolder(unittest.TestCase):
    """DIR with an encoder of 20 steps, a VAE of 5, and files made with them."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.work = pathlib.Path(folder.name)
        for name, step in NETS.items():
            save_state(self.work / f"{name}.pt", {"step": step})
        self.made("contexts.npz", 20)
        self.made("faces/ada-0000.npz", 20)
        self.made("latents/ada-0000.npz", 5)

    def made(self, name, step):
        save_arrays(self.work / name, made_of=np.array(step))

    def refused(self, expected, check=provenance.check_data):
        with self.assertRaisesRegex(Failure, expected):
            check(self.work)


class Data(WorkFolder):
    def test_of_the_nets_that_are_there_is_accepted(self):
        provenance.check_data(self.work)

    def test_of_another_encoder_or_vae_is_refused(self):
        self.made("faces/ada-0001.npz", 20)
        self.made("latents/ada-0001.npz", 5)
        for name, net, step in (
            ("contexts.npz", "audio", 20),
            ("faces/ada-0001.npz", "audio", 20),
            ("latents/ada-0001.npz", "vae", 5),
        ):
            self.made(name, step - 1)
            self.refused(f"{name} was made with {net}.pt of step {step - 1}, which is at {step} now: run the stage")
            self.made(name, step)

    def test_that_is_missing_is_named_with_the_stage_that_makes_it(self):
        self.made("faces/theo-0000.npz", 20)
        self.refused("latents/theo-0000.npz is missing: run the stage latents first")
        (self.work / "vae.pt").unlink()
        self.refused("vae.pt is missing: run the stage vae first")
        (self.work / "contexts.npz").unlink()
        self.refused("contexts.npz is missing: run the stage contexts first", contexts.load)

    def test_latents_of_faces_that_were_made_again_are_refused(self):
        os.utime(self.work / "latents/ada-0000.npz", (1, 1))
        self.refused("latents/ada-0000.npz is older than its faces: run the stage latents again")


class Checkpoints(WorkFolder):
    def run_of(self, **options):
        torch.manual_seed(0)
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            run = Run(self.work / "net.pt", torch.nn.Linear(2, 2), 1e-2, **options)
        return run, said.getvalue()

    def saved_run(self, **options):
        run, _ = self.run_of(**options)
        run.advance({"square": (run.module(torch.ones(2)) ** 2).sum()}, 9)
        run.save()
        return run

    def test_a_training_goes_on_with_its_nets_and_begins_anew_with_others(self):
        self.saved_run(made_of=NETS)
        same, _ = self.run_of(made_of=NETS)
        self.assertEqual(same.step, 1)
        other, said = self.run_of(made_of=NETS | {"audio": 21})
        self.assertEqual(other.step, 0)
        self.assertIn("with audio.pt of step 20 and vae.pt of step 5; there are audio.pt of step 21", said)
        self.assertEqual(load_state(self.work / "net.pt")["step"], 1)  # kept until the next save

    def test_one_that_does_not_say_is_taken_for_the_nets_there_are_once(self):
        self.saved_run()
        first, said = self.run_of(made_of=NETS)
        self.assertEqual(first.step, 1)
        self.assertIn("does not say what it was trained with: taken for audio.pt of step 20", said)
        later, said = self.run_of(made_of=NETS | {"vae": 6})
        self.assertEqual(later.step, 0)
        self.assertIn("there are audio.pt of step 20 and vae.pt of step 6", said)

    def test_a_unet_of_other_nets_is_refused_and_one_that_does_not_say_is_not(self):
        self.refused("unet.pt is missing: run the stage unet first", provenance.check_unet)
        save_state(self.work / "unet.pt", {"step": 7})
        self.assertEqual(provenance.check_unet(self.work)["step"], 7)
        save_state(self.work / "unet.pt", {"step": 7, "made_of": NETS | {"audio": 19}})
        self.refused("unet.pt was trained with audio.pt of step 19 .* but there are", provenance.check_unet)


class Unet(WorkFolder):
    def test_of_an_older_encoder_trains_on_from_its_weights_with_a_new_look(self):
        reader = train_audio.new_reader()
        save_state(self.work / "audio.pt", {"step": 21, "average": reader.state_dict()})
        torch.manual_seed(3)
        known = {k: torch.randn_like(v) for k, v in train_unet.new_unet().state_dict().items()}
        save_state(self.work / "unet.pt", {"average": known, "step": 9, "made_of": NETS})
        random = np.random.default_rng(0).standard_normal((60, 50, 64)).astype(np.float16)
        samples = types.SimpleNamespace(contexts=random, table=positional_table(50, 64))
        run = train_unet.begun(self.work, samples)
        self.assertEqual((run.step, run.made_of), (0, NETS | {"audio": 21}))
        weights = run.module.state_dict()
        torch.testing.assert_close(weights["conv_in.weight"].cpu(), known["conv_in.weight"])
        look = "down_blocks.0.attentions.0.transformer_blocks.0.attn2.to_k.weight"
        self.assertFalse(torch.equal(weights[look][0].cpu(), known[look][0]))
        silent = "down_blocks.0.attentions.0.transformer_blocks.0.attn1.to_out.0.weight"
        self.assertEqual(weights[silent].abs().max().item(), 0)


if __name__ == "__main__":
    unittest.main()
