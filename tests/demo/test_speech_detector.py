"""What the speech detector is trained with and judged by."""

import pathlib
import re
import sys
import unittest

import tools_path  # noqa: F401
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools/speech_detector"))

import features  # noqa: E402
import mixtures  # noqa: E402
import net  # noqa: E402
import playout  # noqa: E402

RATE_HZ = features.RATE_HZ


def noise(count, seed=0):
    return np.random.default_rng(seed).standard_normal(count).astype(np.float32)


def pools():
    """Speech, music and noises that are bursts of noise: enough to mix."""
    burst = np.repeat([0, 1, 0, 1, 1, 0], RATE_HZ // 4).astype(np.float32) * noise(6 * (RATE_HZ // 4))
    return mixtures.Pools([burst], [burst], [noise(12 * RATE_HZ, 1)], [noise(RATE_HZ, 2)])


class Features(unittest.TestCase):
    def test_loudness_moves_the_level_alone(self):
        quiet, loud = features.features(0.01 * noise(16000)), features.features(0.1 * noise(16000))
        np.testing.assert_allclose(quiet[10:, :40], loud[10:, :40], atol=0.01)
        np.testing.assert_allclose(loud[10:, 41] - quiet[10:, 41], np.log(100) / 8, atol=0.01)

    def test_every_band_hears_something_and_weighs_one(self):
        np.testing.assert_allclose(features.filters().sum(axis=1), 1)

    def test_what_comes_later_changes_nothing(self):
        sound = 0.1 * noise(32000)
        np.testing.assert_allclose(features.features(sound)[:100], features.features(sound[:16000]), atol=1e-5)


class Clips(unittest.TestCase):
    def test_the_same_clip_is_the_same_again_and_both_kinds_come(self):
        made = [mixtures.clip(pools(), 1, index) for index in range(12)]
        np.testing.assert_array_equal(made[3].samples, mixtures.clip(pools(), 1, 3).samples)
        self.assertEqual({bool(clip.speaks.any()) for clip in made}, {False, True})
        for clip in made:
            self.assertLessEqual(np.abs(clip.samples).max(), 1)
            self.assertEqual((len(clip.samples), len(clip.speaks)), (mixtures.COUNT, mixtures.FRAMES))
            self.assertTrue(clip.speaks.any() or (clip.weights == 1).all())

    def test_speech_is_what_is_loud_with_its_short_gaps(self):
        speaks = np.zeros(200, bool)
        speaks[50:60] = speaks[70:90] = True
        whole, weights = mixtures.asked(speaks, speaks)
        self.assertEqual((whole[45], whole[55], whole[65], whole[95]), (False, True, True, False))
        self.assertEqual((weights[20], weights[55], weights[100], weights[150]), (1, 1, 0, 1))

    def test_compression_lifts_what_is_quiet(self):
        sound = np.concatenate([noise(16000), 0.1 * noise(16000)])
        pressed = mixtures.compressed(sound, np.random.default_rng(1))
        self.assertLess(pressed[:14000].std() / pressed[18000:].std(), 6)


class Playout(unittest.TestCase):
    def test_lips_move_for_320_ms_after_speech_that_is_known_80_ms_ahead(self):
        answers = np.zeros(200, bool)
        answers[100 + net.DELAY : 120 + net.DELAY] = True  # frames 100 to 119
        moving = np.flatnonzero(playout.speaking_slots(answers))
        self.assertLessEqual(abs(moving[0] - 25), 1)
        self.assertEqual(moving[-1], (120 + 32) // 4)

    def test_the_constants_are_those_of_the_product(self):
        def constant(file, name):
            text = (ROOT / file).read_text(encoding="utf-8")
            return float(re.search(rf"{name} = ([0-9.]+)", text)[1])

        detector = "core/voice_activity/speech_detector.h"
        self.assertEqual(constant(detector, "k_begin"), playout.BEGIN)
        self.assertEqual(constant(detector, "k_end"), playout.END)
        self.assertEqual(constant("core/voice_activity/detector_net.h", "k_delay"), net.DELAY)
        self.assertEqual(constant("server/worker/live/lips.cpp", "k_hangover"), 10 * playout.HANGOVER_FRAMES)


if __name__ == "__main__":
    unittest.main()
