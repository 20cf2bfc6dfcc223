"""What the speech detector is trained with and judged by."""

import pathlib
import re
import sys
import unittest

import tools_path  # noqa: F401
import numpy as np
import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools/speech_detector"))

import evaluate  # noqa: E402
import features  # noqa: E402
import instruments  # noqa: E402
import mixtures  # noqa: E402
import net  # noqa: E402
import playout  # noqa: E402
import train  # noqa: E402
import voices  # noqa: E402

RATE_HZ = features.RATE_HZ


def noise(count, seed=0):
    return np.random.default_rng(seed).standard_normal(count).astype(np.float32)


def pools():
    """Speech, music and noises that are bursts of noise: enough to mix."""
    burst = np.repeat([0, 1, 0, 1, 1, 0], RATE_HZ // 4).astype(np.float32) * noise(6 * (RATE_HZ // 4))
    music = [noise(12 * RATE_HZ, 1)]
    return mixtures.Pools([burst], [burst], [burst[: RATE_HZ // 2]], music, music, [noise(RATE_HZ, 2)])


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

    def test_a_syllable_is_cut_between_quiet_frames_and_is_short(self):
        burst = np.repeat([0.01, 1, 0.01, 1, 0.01], RATE_HZ // 4).astype(np.float32) * noise(5 * (RATE_HZ // 4))
        for seed in range(20):
            cut = mixtures._cut(burst, np.random.default_rng(seed))
            self.assertGreaterEqual(len(cut), mixtures.SYLLABLE_S[0] * RATE_HZ)
            self.assertLessEqual(len(cut), (mixtures.SYLLABLE_S[1] + 0.15) * RATE_HZ)
            self.assertLess(np.abs(cut[:10]).max(), 0.1 * np.abs(cut).max())
            self.assertTrue(mixtures.speech_of(cut)[0].any())

    def test_syllables_alone_have_pauses_about_them(self):
        for seed in range(40):
            samples, speaks, _ = mixtures._utterances(pools(), np.random.default_rng(seed))
            self.assertEqual((len(samples), len(speaks)), (mixtures.COUNT, mixtures.FRAMES))
            self.assertLess(speaks.mean(), 0.95)

    def test_sounds_begin_again_after_enough_silence_to_be_as_new(self):
        for seed in range(10):
            made = mixtures._beginnings(pools(), np.random.default_rng(seed))
            self.assertEqual(len(made), mixtures.COUNT)
            edges = np.flatnonzero(np.diff(np.concatenate([[0], made != 0, [0]]).astype(int)))
            gaps = edges[2::2] - edges[1:-1:2]
            self.assertGreaterEqual((gaps > 0.5 * RATE_HZ).sum(), 1)

    def test_compression_lifts_what_is_quiet(self):
        sound = np.concatenate([noise(16000), 0.1 * noise(16000)])
        pressed = mixtures.compressed(sound, np.random.default_rng(1))
        self.assertLess(pressed[:14000].std() / pressed[18000:].std(), 6)


class Instruments(unittest.TestCase):
    def test_a_score_is_what_the_events_say_in_their_order(self):
        score = instruments.midi([(1.0, b"\x80\x3c\x00"), (0.0, b"\x90\x3c\x40"), (0.0, b"\xb0\x07\x64")])
        track = b"\x00\x90\x3c\x40" + b"\x00\xb0\x07\x64" + b"\x83\x60\x80\x3c\x00" + b"\x00\xff\x2f\x00"
        self.assertEqual(score[:14], b"MThd\x00\x00\x00\x06\x00\x00\x00\x01\x00\xf0")
        self.assertEqual(score[14:], b"MTrk" + len(track).to_bytes(4, "big") + track)

    def test_no_choir_and_no_effect_plays_and_every_note_ends(self):
        for seed in range(60):
            on = set()
            for _, sent in sorted(instruments.piece(np.random.default_rng(seed)), key=lambda event: event[0]):
                if sent[0] >> 4 == 0xC:
                    self.assertNotIn(sent[1], instruments.VOICES)
                    self.assertLess(sent[1], instruments.FIRST_EFFECT)
                elif sent[0] >> 4 == 0x9:
                    on.add((sent[0] & 15, sent[1]))
                elif sent[0] >> 4 == 0x8:
                    on.discard((sent[0] & 15, sent[1]))
                self.assertTrue(all(byte < 128 for byte in sent[1:]))
            self.assertFalse(on)


class Training(unittest.TestCase):
    def test_what_a_net_gets_wrong_comes_more_often(self):
        often = train.shares(np.array([0.1, 0.1, np.nan, 2.0, 0.1]))
        self.assertAlmostEqual(often.sum(), 1)
        self.assertGreater(often[3], 3 * often[0])
        self.assertGreater(often[2], often[0])  # not drawn yet
        np.testing.assert_allclose(train.shares(np.full(4, np.nan)), 0.25)

    def test_what_is_drawn_costs_the_same_whatever_it_is_drawn_with(self):
        torch.manual_seed(2)
        detector = net.Detector()
        frames = torch.rand(1500, features.COUNT)
        data = train.Data(frames.half(), (frames[:, 0] > 0.5).float(), torch.ones(1500), [[(0, 100), (100, 600)], [(600, 700)], [(700, 1500)]])
        together = train.backward(detector, data, np.arange(3))
        apart = [train.backward(detector, data, np.array([clip]))[0] for clip in range(3)]
        np.testing.assert_allclose(together, apart, rtol=1e-3)

    def test_nothing_is_asked_of_what_follows_a_part(self):
        torch.manual_seed(5)
        detector = net.Detector()
        asked = torch.zeros(400)
        asked[100 - net.DELAY : 100] = 1  # the answers to these would come after the shorter part's end
        asked[300] = 1
        data = train.Data(torch.rand(400, features.COUNT).half(), torch.ones(400), asked, [[(0, 100)], [(100, 400)]])
        losses = train.backward(detector, data, np.arange(2))
        self.assertEqual(losses[0], 0)
        self.assertGreater(losses[1], 0)

    def test_the_gradient_is_that_of_the_mean_over_all_frames(self):
        torch.manual_seed(3)
        detector = net.Detector()
        frames = torch.rand(900, features.COUNT).half().float()
        speaks = (frames[:, 0] > 0.5).float()
        data = train.Data(frames.half(), speaks, torch.ones(900), [[(0, 900)]])
        train.backward(detector, data, np.array([0]))
        found = detector.answer.bias.grad.clone()
        detector.zero_grad()
        losses, _ = train.losses_of(detector, frames[None], speaks[None], torch.ones(1, 900))
        (losses.sum() / (1 + 0.5 * speaks[: -net.DELAY]).sum()).backward()
        torch.testing.assert_close(found, detector.answer.bias.grad)

    def test_a_clip_is_heard_from_silence_to_silence_as_new(self):
        sound = np.zeros(mixtures.COUNT, np.float32)
        for begin in (1, 4):
            sound[begin * RATE_HZ : (begin + 1) * RATE_HZ] = 0.1 * noise(RATE_HZ, begin)
        speaks = np.arange(mixtures.FRAMES) >= 400
        parts = train.parts_of(mixtures.Clip(sound, speaks, np.ones(mixtures.FRAMES, np.float32)))
        self.assertEqual([len(heard) for heard, _, _ in parts], [149, 149])
        self.assertEqual([bool(asked.any()) for _, asked, _ in parts], [False, True])
        np.testing.assert_array_equal(parts[1][0], features.features(sound[4 * RATE_HZ : 4 * RATE_HZ + 149 * 160]))


class Net(unittest.TestCase):
    def test_a_net_that_has_grown_answers_as_before(self):
        torch.manual_seed(4)
        heard = torch.rand(2, 60, features.COUNT)
        small = net.Detector(32, 40, 24)
        torch.testing.assert_close(net.detector_with(small.state_dict())(heard), small(heard))
        grown = net.Detector()
        grown.load_state_dict(net.grown(small.state_dict()))
        self.assertEqual(grown.first.hidden_size, net.FIRST)
        torch.testing.assert_close(grown(heard), small(heard))


class Voices(unittest.TestCase):
    def test_a_letter_alone_is_short_and_heard(self):
        for seed in range(6):
            said = voices.letter(np.random.default_rng(seed))
            self.assertGreater(np.abs(said).max(), 0.01)
            self.assertLess(len(said), 4 * RATE_HZ)


class Judge(unittest.TestCase):
    def test_sounds_judged_together_are_judged_as_each_alone(self):
        torch.manual_seed(1)
        judge = evaluate.Judge(net.Detector().state_dict())
        sounds = [0.1 * noise(RATE_HZ * 2, 1), 0.1 * noise(RATE_HZ, 2), np.zeros(RATE_HZ, np.float32)]
        sounds.append(np.concatenate([sounds[1], sounds[2], sounds[0]]))
        for sound, together in zip(sounds, judge.likelihoods(sounds)):
            np.testing.assert_allclose(together, judge.likelihood(sound), atol=1e-5)
        # What comes after a second of silence is heard as new.
        np.testing.assert_allclose(judge.likelihood(sounds[3])[200:], judge.likelihood(sounds[0]), atol=1e-5)


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
        self.assertEqual(constant(detector, "k_first_counted"), playout.FIRST_COUNTED)
        self.assertEqual(constant("server/worker/live/lips.cpp", "k_hangover"), 10 * playout.HANGOVER_FRAMES)


if __name__ == "__main__":
    unittest.main()
