"""What evaluation reads, prints and counts as missed."""

import pathlib
import tempfile
import unittest

import tools_path  # noqa: F401
import numpy as np

from evaluation import check_clips, evaluate
from files import save_arrays
from program import Failure
from speech.visemes import PARAMETERS

GOOD = {"jaw": 0.9, "wide": 0.7, "round": 0.6, "flicker": 0.9, "gradient_energy": 0.8, "silent_jaw": 0.01}


def mouths_in(crops):
    """A probe for crops whose first pixels are the mouth."""
    return crops[:, 0, : len(PARAMETERS), 0] / 255


def clip_of(mouths):
    """A check clip of mouths [T, 8] in 0..1, that the probe above reads."""
    crops = np.full((len(mouths), 256, 256, 3), 90, np.uint8)
    crops[:, ::2] = 30  # something for the gradients
    crops[:, 0, : len(PARAMETERS)] = (mouths * 255)[..., None]
    return {"track": mouths, "truth": crops, "resting": crops}


class Figures(unittest.TestCase):
    def test_that_are_not_what_is_wanted_are_missed(self):
        self.assertEqual(evaluate.missed(GOOD), [])
        for name, value in (("jaw", 0.84), ("flicker", 1.01), ("silent_jaw", 0.06), ("round", float("-inf"))):
            self.assertEqual(evaluate.missed(GOOD | {name: value}), [name])

    def test_amplitudes_are_spreads_to_the_truth_s_of_each_parameter(self):
        truth = clip_of(np.random.default_rng(0).random((40, 8)))
        half = 0.5 * truth["track"]
        half[:, PARAMETERS.index("wide")] = truth["track"][:, PARAMETERS.index("wide")]
        found = evaluate.figures_of(mouths_in, [truth], [clip_of(half)["truth"]])
        self.assertAlmostEqual(found["amplitude_jaw"], 0.5, places=1)
        self.assertAlmostEqual(found["amplitude_wide"], 1.0, places=1)
        self.assertAlmostEqual(found["amplitude_round"], 0.5, places=1)

    def test_are_of_as_many_clips_as_were_asked_for(self):
        with tempfile.TemporaryDirectory() as work:
            work = pathlib.Path(work)
            for index in range(4):
                save_arrays(check_clips.clip_path(work, "ada", index), number=np.array(index))
            loaded = check_clips.load(work, "ada", 2)
            self.assertEqual([int(clip["number"]) for clip in loaded], [0, 1])

    def test_without_faces_to_read_mouths_from_are_refused(self):
        with tempfile.TemporaryDirectory() as work:
            with self.assertRaisesRegex(Failure, "no shard of ada: run the stage faces first"):
                evaluate.probe_of(pathlib.Path(work), "ada")

    def test_with_a_recording_that_is_none_are_refused(self):
        with tempfile.NamedTemporaryFile(suffix=".wav") as file:
            with self.assertRaisesRegex(Failure, "is no recording that can be read"):
                evaluate.recording(pathlib.Path(file.name))


if __name__ == "__main__":
    unittest.main()
