"""Phonemes, mouth tracks, augmentation and the shards of speech."""

import pathlib
import tempfile
import unittest
from unittest import mock

import tools_path  # noqa: F401
import numpy as np

from faces.calibration import Calibration
from program import Failure
from speech import augment, speech_data, speech_windows, texts, voices
from speech.espeak import Phoneme, speak
from speech.tracks import FRAME_S, frame_times, mouth_track, token_times
from speech.visemes import PARAMETERS, SHAPES, shapes_of

JAW, WIDE, ROUND, PRESS = (PARAMETERS.index(name) for name in ("jaw", "wide", "round", "press"))


def rms(samples):
    return float(np.sqrt(np.mean(samples**2)))


def spectrum_of(samples):
    """Power of each frequency, smoothed over 40 Hz, so that noise is even; never 0."""
    power = np.abs(np.fft.rfft(samples * np.hanning(len(samples)))) ** 2
    return np.convolve(power, np.ones(40), "same")[::40] + 1e-20


class Tracks(unittest.TestCase):
    def test_phonemes_lie_where_the_sound_is(self):
        speech = speak("Ah, Bob.", "en-us")
        sound = {}
        for phoneme in speech.phonemes:
            part = speech.samples[
                int(phoneme.start_s * speech.rate_hz) : int(phoneme.end_s * speech.rate_hz)
            ]
            sound.setdefault(phoneme.name[:1], []).append(rms(part))
        self.assertLess(max(sound["_"]), 0.01)
        self.assertGreater(min(sound["A"]), 0.03)

    def test_an_unknown_voice_is_named(self):
        with self.assertRaisesRegex(ValueError, "nonesuch"):
            speak("Hello", "nonesuch")

    def test_every_shape_stays_within_its_range(self):
        for name, shape in SHAPES.items():
            self.assertTrue((shape >= 0).all() and (shape <= 1).all(), name)

    def test_pauses_rest_and_bilabials_close_between_open_vowels(self):
        word = [Phoneme("_:", 0, 0.3), Phoneme("A:", 0.3, 0.5), Phoneme("b", 0.5, 0.6),
                Phoneme("A:", 0.6, 0.8), Phoneme("_:", 0.8, 1.2)]  # fmt: skip
        track = mouth_track(word, frame_times(30))
        at = {second: track[int(second / FRAME_S)] for second in (0.1, 0.4, 0.54, 1.1)}
        for silence in (0.1, 1.1):
            self.assertLess(np.abs(at[silence]).max(), 0.02)
        self.assertGreater(at[0.4][JAW], 0.7)
        self.assertGreater(at[0.54][PRESS], 0.8)
        self.assertLess(at[0.54][JAW], 0.2)

    def test_a_diphthong_moves_from_one_vowel_to_the_other(self):
        track = mouth_track([Phoneme("oU", 0.2, 0.6)], frame_times(20))
        self.assertGreater(track[9, JAW], track[13, JAW])
        self.assertGreater(track[13, ROUND], track[9, ROUND])

    def test_unknown_mnemonics_fall_back_to_their_first_letters(self):
        self.assertEqual(shapes_of("i:9"), ("EE",))
        self.assertEqual(shapes_of("tSX"), ("T", "SH"))
        self.assertEqual(shapes_of("_:"), ("rest",))
        self.assertEqual(shapes_of("%%"), ("H",))

    def test_a_frame_s_middle_is_an_odd_token_s_time(self):
        np.testing.assert_allclose(frame_times(50), token_times(100)[1::2])


class Augmentation(unittest.TestCase):
    def test_the_same_seed_gives_the_same_sound_of_the_same_length(self):
        voice = speak("Hello there.", "en-us").samples[:16000]
        for chain in (augment.OF_A_VOICE, augment.OF_A_RECORDING):
            first, second, other = (
                augment.apply(voice, chain, np.random.default_rng(seed)) for seed in (1, 1, 2)
            )
            np.testing.assert_array_equal(first, second)
            self.assertEqual(first.shape, voice.shape)
            self.assertFalse(np.array_equal(first, other))
            self.assertEqual(first.dtype, np.float32)

    def test_no_step_moves_a_click(self):
        click = np.zeros(8000, np.float32)
        click[4000] = 1
        for step in (augment.tilt, augment.resonance, augment.room, augment.drive, augment.low_pass):
            heard = step(click, np.random.default_rng(0))
            self.assertLessEqual(abs(int(np.abs(heard).argmax()) - 4000), 2, step.__name__)

    def test_noise_is_below_the_speech(self):
        voice = speak("Hello there.", "en-us").samples
        added = augment.noise(voice, np.random.default_rng(3)) - voice
        self.assertLess(rms(added), augment.level(voice) * 10 ** (-7.5 / 20))
        self.assertGreater(rms(added), 0)

    def test_a_tone_is_steady_and_of_one_pitch(self):
        for seed in range(20):
            tone = augment.steady_tone(16000, np.random.default_rng(seed))
            first, second = tone[:8000], tone[8000:]
            self.assertAlmostEqual(rms(tone), 1, places=2)
            self.assertAlmostEqual(rms(first), rms(second), delta=0.1)
            power = np.abs(np.fft.rfft(tone * np.hanning(16000))) ** 2
            peaks = np.sort(power)[::-1]
            self.assertGreater(peaks[: 5 * 6].sum(), 0.99 * power.sum(), seed)  # at most six lines

    def test_what_is_heard_where_nobody_speaks_is_quiet_or_as_loud_as_speech(self):
        sounds = [augment.no_speech(16000, np.random.default_rng(seed)) for seed in range(200)]
        levels_db = np.array([20 * np.log10(rms(sound) + 1e-9) for sound in sounds])
        self.assertLess(levels_db.max(), -4)
        self.assertGreater((levels_db > -20).mean(), 0.2)
        self.assertGreater((levels_db < -35).mean(), 0.3)
        flatness = [np.exp(np.log(p).mean()) / p.mean() for p in map(spectrum_of, sounds)]
        self.assertGreater(np.mean(np.array(flatness) > 0.2), 0.1)  # white noise
        self.assertGreater(np.mean(np.array(flatness) < 0.001), 0.1)  # tones

    def test_a_window_in_which_nobody_speaks_rests_however_loud(self):
        loud = resting = 0
        with mock.patch.object(speech_windows, "SHARE_OF_SILENCE", 1.0):
            for seed in range(40):
                window = speech_windows.compose([], 50, np.random.default_rng(seed))
                resting += not window.track.any()
                loud += bool(window.mel.mean() > 0.3)
        self.assertEqual(resting, 40)
        self.assertGreater(loud, 5)


class Shards(unittest.TestCase):
    def test_a_shard_is_made_once_and_again_alike(self):
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
            one, two = pathlib.Path(one), pathlib.Path(two)
            self.assertTrue(speech_data.make_shard(one, "train", 3, clips=2))
            self.assertFalse(speech_data.make_shard(one, "train", 3, clips=2))
            speech_data.make_shard(two, "train", 3, clips=2)
            first, again = (speech_data.load(folder, "train") for folder in (one, two))
            self.assertEqual(len(first), 2)
            for (samples, track), (_, track2) in zip(first, again):
                self.assertEqual(len(samples), 320 * len(track))
                self.assertAlmostEqual(len(track), len(track2), delta=2)
                shared = min(len(track), len(track2))  # espeak's own noise moves times a little
                np.testing.assert_allclose(track[:shared], track2[:shared], atol=0.15)

    def test_an_unfinished_shard_does_not_count(self):
        with tempfile.TemporaryDirectory() as folder:
            work = pathlib.Path(folder)
            path = speech_data.shard_path(work, "train", 0)
            path.parent.mkdir()
            path.with_name(path.name + ".partial").write_bytes(b"PK")
            with self.assertRaisesRegex(Failure, "holds no speech: run the stage speech first"):
                speech_data.load(work, "train")
            self.assertTrue(speech_data.make_shard(work, "train", 0, clips=1))
            self.assertEqual(len(speech_data.load(work, "train")), 1)

    def test_held_out_sentences_and_voices_never_train(self):
        self.assertFalse(set(texts.sentences("train")) & set(texts.sentences("held_out")))
        rng = np.random.default_rng(0)
        heard = {voices.training_manner(rng).voice.split("+")[1] for _ in range(500)}
        self.assertFalse(heard & {voice.split("+")[1] for voice in voices.HELD_OUT})


class Mouths(unittest.TestCase):
    def test_calibration_restores_the_spread_and_keeps_the_order(self):
        rng = np.random.default_rng(0)
        truth = rng.beta(0.5, 1.5, (4000, 8)).astype(np.float32)
        shy = (0.3 + 0.3 * truth).astype(np.float32)
        bold = Calibration.fit(shy, truth, 1.0)(shy)
        np.testing.assert_allclose(bold, truth, atol=0.02)
        same = Calibration.fit(shy, truth, 0.0)(shy)
        np.testing.assert_allclose(same, shy, atol=1e-3)


if __name__ == "__main__":
    unittest.main()
