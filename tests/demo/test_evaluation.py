"""What evaluation reads, prints and counts as missed."""

import pathlib
import tempfile
import unittest
from unittest import mock

import tools_path  # noqa: F401
import numpy as np

from evaluation import check_clips, evaluate, live_hearing, unspoken
from files import save_arrays
from program import Failure
from speech.visemes import PARAMETERS

GOOD = {
    "jaw": 0.9, "wide": 0.7, "round": 0.6, "flicker": 0.9, "gradient_energy": 0.8, "silent_jaw": 0.01,
    "unspoken_jaw": 0.01, "live_psnr": 37.0, "live_jaw": 0.99,
}  # fmt: skip


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
        for name, value in (("jaw", 0.84), ("flicker", 1.01), ("silent_jaw", 0.06), ("round", float("-inf")),
                            ("unspoken_jaw", 0.04), ("live_psnr", 34.0), ("live_jaw", 0.97)):
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


class SoundsWithoutSpeech(unittest.TestCase):
    def test_noise_falls_by_three_decibels_an_octave_for_each_step_of_its_colour(self):
        for name, slope in unspoken.SLOPES.items():
            sound = unspoken.noise(slope)
            power, hz = np.abs(np.fft.rfft(sound)) ** 2, np.fft.rfftfreq(len(sound), 1 / 16000)
            low, high = (power[(hz > edge) & (hz < 2 * edge)].mean() for edge in (100, 3200))
            self.assertAlmostEqual(10 * np.log10(low / high) / 5, 3 * slope, delta=0.5, msg=name)

    def test_are_as_loud_as_their_names_say(self):
        for name, sound in unspoken.sounds().items():
            self.assertAlmostEqual(20 * np.log10(sound.std()), float(name.split()[-1]), places=1, msg=name)
            self.assertEqual(len(sound), 32000)

    def test_a_plucked_string_has_its_pitch_and_fades(self):
        string = unspoken.plucked(250.0, 16000, 0)
        power = np.abs(np.fft.rfft(string - string.mean())) ** 2  # of a second: a bin is a hertz
        self.assertAlmostEqual(int(power[100:400].argmax()) + 100, 250, delta=3)
        self.assertLess(string[8000:].std(), 0.5 * string[:4000].std())


class LiveHearing(unittest.TestCase):
    """Of a recording in which each sample is the number of its token, and a state that repeats it."""

    def windows(self, tokens, frames):
        lengths = []

        def states(_, mel):
            lengths.append(mel.shape[1] // 2)
            return mel[:, ::2, None, None].expand(-1, -1, 1, 2)

        def mel(samples):
            return samples[::160]

        samples = np.repeat(np.arange(1, tokens + 1), 320).astype(np.float32)
        with mock.patch.object(live_hearing, "hidden_states", states), mock.patch.object(live_hearing, "log_mel", mel):
            return live_hearing.live_windows(None, samples, frames)[..., 0].numpy(), lengths

    def test_a_picture_sees_ten_tokens_from_four_before_its_own(self):
        windows, _ = self.windows(600, [0, 1, 5, 250])
        for window, frame in zip(windows, (0, 1, 5, 250)):
            tokens = np.arange(2 * frame - 3, 2 * frame + 7)  # numbered from 1
            np.testing.assert_array_equal(window, tokens.clip(0), str(frame))

    def test_a_session_hears_four_seconds_of_past_and_silence_behind(self):
        _, lengths = self.windows(600, [0, 60, 290])
        self.assertEqual(lengths, [100, 200, 300])

    def test_the_same_faces_agree_and_others_do_not(self):
        faces = clip_of(np.random.default_rng(0).random((20, 8)))["truth"]
        same = live_hearing.agreement(faces, faces, mouths_in)
        self.assertEqual((same["live_psnr"], same["live_flicker"]), (float("inf"), 1.0))
        self.assertAlmostEqual(same["live_jaw"], 1.0)
        other = faces.copy()
        other[:, 200, 100] += 100
        other[:, 0, 0] = 255 - other[:, 0, 0]
        found = live_hearing.agreement(other, faces, mouths_in)
        self.assertAlmostEqual(found["live_jaw"], -1.0)
        self.assertLess(found["live_psnr"], 60)


if __name__ == "__main__":
    unittest.main()
