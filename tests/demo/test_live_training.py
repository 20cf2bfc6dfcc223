"""What the stage `live` hears and asks for, and how a work folder begins with exported models."""

import filecmp
import pathlib
import shutil
import tempfile
import types
import unittest
from unittest import mock

import tools_path  # noqa: F401
import numpy as np
import torch

import export
from files import load_state, required_state, save_state
from nets.audio_encoder import hidden_states
from program import Failure
from speech import flite, non_speech, speech_data
from speech.mel import TOKEN_SAMPLES, log_mel
from speech.visemes import PARAMETERS
from training import exported, live_audio, live_sounds, train_audio

ROOT = pathlib.Path(__file__).resolve().parents[2]
JAW = PARAMETERS.index("jaw")


def rms(samples):
    return float(np.sqrt(np.mean(samples**2)))


def spoken_clips():
    """Two clips of noise as loud as a voice, with the jaw open."""
    track = np.full((500, 8), 0.5, np.float32)
    return [(0.1 * np.random.default_rng(k).standard_normal(160000).astype(np.float32), track) for k in (0, 1)]


class SoundsWithoutSpeech(unittest.TestCase):
    def test_every_kind_has_unit_power_and_is_the_same_again(self):
        for maker, _, _ in non_speech.KINDS:
            for seed in range(12):
                sound = maker(24000, np.random.default_rng(seed))
                again = maker(24000, np.random.default_rng(seed))
                self.assertEqual((sound.shape, sound.dtype), ((24000,), np.float32), maker.__name__)
                self.assertAlmostEqual(float(sound.std()), 1, places=2, msg=f"{maker.__name__} {seed}")
                np.testing.assert_array_equal(sound, again)

    def test_a_hum_is_lines_of_one_pitch_and_room_tone_is_not(self):
        def share_of_lines(sound):
            power = np.sort(np.abs(np.fft.rfft(sound * np.hanning(len(sound)))) ** 2)[::-1]
            return power[:120].sum() / power.sum()

        hums = [share_of_lines(non_speech.hum(32000, np.random.default_rng(seed))) for seed in range(10)]
        rooms = [share_of_lines(non_speech.coloured_noise(32000, np.random.default_rng(seed))) for seed in range(10)]
        self.assertGreater(min(hums), 0.99)
        self.assertLess(np.median(rooms), 0.9)

    def test_tones_lie_everywhere_from_low_to_high(self):
        loudest = []
        for seed in range(200):
            power = np.abs(np.fft.rfft(non_speech.tone(16000, np.random.default_rng(seed)))) ** 2
            loudest.append(max(1, int(power.argmax())))  # of a second: a bin is a hertz
        octaves = np.histogram(np.log2(loudest), bins=np.log2([40, 80, 160, 320, 640, 1280, 2560, 6400]))[0]
        self.assertGreater(octaves.min(), 8, octaves)

    def test_partials_stay_below_half_the_rate(self):
        pitch = np.full(16000, 3000, np.float32)
        power = np.abs(np.fft.rfft(non_speech._partials(pitch, np.ones(16), np.random.default_rng(0)))) ** 2
        lines = np.flatnonzero(power > 1e-4 * power.max())
        self.assertEqual(sorted(set(np.round(lines, -3))), [3000, 6000])

    def test_none_is_louder_than_asked(self):
        levels_db = []
        for seed in range(150):
            sound = non_speech.heard(16000, np.random.default_rng(seed), -30)
            levels_db.append(20 * np.log10(rms(sound) + 1e-9))
        self.assertLess(max(levels_db), -29.9)
        self.assertGreater(np.std(levels_db), 5)


class Sounds(unittest.TestCase):
    def test_where_nobody_speaks_the_mouth_rests_and_something_is_heard(self):
        with mock.patch.object(live_sounds, "SHARE_NO_SPEECH", 1.0):
            for seed in range(10):
                sound = live_sounds.sound_of(spoken_clips(), 100, np.random.default_rng(seed))
                self.assertFalse(sound.said.any() or sound.track.any())
                self.assertEqual((len(sound.heard), len(sound.track)), (100 * TOKEN_SAMPLES, 100))
                self.assertGreater(rms(sound.heard), 0)

    def test_beside_speech_another_sound_is_loud_only_where_nobody_speaks(self):
        said, track = 0.1 * np.ones(100 * TOKEN_SAMPLES, np.float32), np.ones((100, 8), np.float32)
        loud = mock.patch.object(non_speech, "heard", lambda count, _: 0.5 * np.resize([1, -1], count))
        first = set()
        with loud:
            for seed in range(30):
                spoken, heard, mouth = live_sounds.beside(said, track, np.random.default_rng(seed))
                speaks = np.repeat(mouth[:, JAW] > 0, TOKEN_SAMPLES)
                self.assertTrue(20 <= (mouth[:, JAW] > 0).sum() <= 80)
                np.testing.assert_array_equal(spoken, np.where(speaks, said, 0))
                self.assertAlmostEqual(rms(heard[~speaks]), 0.5, places=3)
                below_db = 20 * np.log10(rms((heard - spoken)[speaks]) + 1e-9)
                self.assertLess(below_db, -20 - live_sounds.BELOW_SPEECH_DB + 0.1)
                first.add(bool(speaks[0]))
        self.assertEqual(first, {False, True})

    def test_below_speech_nothing_comes_near_to_it(self):
        for level_db in (-12, -30, -50):
            said = (10 ** (level_db / 20) * np.resize([1, -1], 16000)).astype(np.float32)
            wanted = min(live_sounds.UNDER_SPEECH_DB, level_db - live_sounds.BELOW_SPEECH_DB)
            self.assertAlmostEqual(live_sounds.most_below(said), wanted, places=2)

    def test_behind_a_recording_thirty_seconds_are_filled_with_silence(self):
        sound = live_sounds.behind_a_recording(live_sounds.sound_of(spoken_clips(), 100, np.random.default_rng(1)))
        self.assertEqual((len(sound.heard), len(sound.track)), (480000, 1500))
        self.assertFalse(sound.heard[32000:].any() or sound.track[100:].any())

    def test_each_of_the_neighbouring_pictures_knows_two_tokens_more(self):
        noise = np.random.default_rng(0).standard_normal(300 * TOKEN_SAMPLES).astype(np.float32)
        sound = live_sounds.Sound(noise, noise, np.zeros((300, 8), np.float32))
        mels = live_audio.cuts(sound, 100, 250, 60)
        self.assertEqual(tuple(mels.shape), (live_audio.PICTURES, 80, 320))
        for picture in range(1, live_audio.PICTURES):
            torch.testing.assert_close(mels[picture][:, 4:190], mels[0][:, 4 + 4 * picture : 190 + 4 * picture])
        whole = log_mel(torch.from_numpy(noise))
        torch.testing.assert_close(mels[0][:, 4:196], whole[:, 304:496])
        self.assertTrue((mels[:, :, 202:] == mels.min()).all())


class Targets(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)
        self.teacher = train_audio.new_reader().eval().requires_grad_(False)
        self.resting = torch.randn(64)

    def test_is_the_resting_mouth_where_nobody_speaks(self):
        silent = np.zeros(100 * TOKEN_SAMPLES, np.float32)
        heard = 0.1 * np.random.default_rng(0).standard_normal(len(silent)).astype(np.float32)
        sound = live_sounds.Sound(silent, heard, np.zeros((100, 8), np.float32))
        mouths, states = live_audio.asked(self.teacher, sound, self.resting)
        torch.testing.assert_close(mouths, self.teacher.head(self.resting).expand(100, -1))
        torch.testing.assert_close(states, self.resting.expand(100, -1))

    def test_is_between_the_teacher_s_and_the_phonemes_where_somebody_speaks(self):
        said = 0.1 * np.random.default_rng(0).standard_normal(100 * TOKEN_SAMPLES).astype(np.float32)
        sound = live_sounds.Sound(said, np.zeros_like(said), np.full((100, 8), 0.7, np.float32))
        mouths, states = live_audio.asked(self.teacher, sound, self.resting)
        heard = hidden_states(self.teacher.encoder, log_mel(torch.from_numpy(said))[None])[0, :, -1]
        torch.testing.assert_close(states, heard)
        part = live_audio.TEACHERS_PART
        torch.testing.assert_close(mouths, part * self.teacher.head(heard) + (1 - part) * 0.7)

    def test_is_the_teacher_s_where_the_phonemes_are_not_known(self):
        said = 0.1 * np.random.default_rng(0).standard_normal(100 * TOKEN_SAMPLES).astype(np.float32)
        track = np.full((100, 8), 0.7, np.float32)
        track[:50] = np.nan
        sound = live_sounds.Sound(said, said, track)
        mouths, states = live_audio.asked(self.teacher, sound, self.resting)
        torch.testing.assert_close(mouths[:50], self.teacher.head(states[:50]))
        self.assertFalse(mouths.isnan().any() or torch.equal(mouths[50:], self.teacher.head(states[50:])))

    def test_what_trembles_from_hearing_to_hearing_costs_more_than_what_is_wrong(self):
        losses = self.losses()
        shape = (live_audio.SOUNDS, live_audio.PICTURES, 3, 8)
        still, trembling = torch.full(shape, 0.1), torch.zeros(shape)
        trembling[:, 1] = 0.1
        want = torch.zeros(shape)
        terms = [losses.of_pictures(mouths, want) for mouths in (want, still, trembling)]
        self.assertEqual([float(terms[0][name]) for name in ("shown", "jitter")], [0, 0])
        self.assertGreater(float(terms[1]["shown"]), 0)
        self.assertAlmostEqual(float(terms[1]["jitter"]), 0, places=9)
        self.assertLess(float(terms[2]["shown"]), float(terms[1]["shown"]))
        self.assertGreater(float(terms[2]["jitter"]), 0.01)

    def test_rest_is_asked_for_only_where_nobody_speaks(self):
        losses = self.losses()
        silent, spoken = (
            live_sounds.Sound(np.full(320, level, np.float32), np.zeros(320), np.zeros((1, 8))) for level in (0.0, 0.1)
        )
        mouths, want = torch.full((2, 1, 8), 0.1), torch.zeros((2, 1, 8))
        self.assertEqual(float(losses.rest(mouths, want, [spoken, spoken])["rest"]), 0)
        one, both = (float(losses.rest(mouths, want, [silent, other])["rest"]) for other in (spoken, silent))
        self.assertAlmostEqual(one, live_audio.REST_WEIGHT * 0.1 / 2, places=6)
        self.assertAlmostEqual(both, 2 * one, places=6)

    def losses(self):
        return live_audio.Losses(self.teacher, self.teacher, [], torch.ones(8), torch.ones(64), self.resting)


class PlainSpeech(unittest.TestCase):
    """By flite, which tells no phonemes."""

    @unittest.skipUnless(shutil.which("flite"), "flite is not installed")
    def test_is_the_same_again_and_has_no_track(self):
        clips = [speech_data.clip_of_set("plain", index) for index in (0, 0, 1)]
        np.testing.assert_array_equal(clips[0].samples, clips[1].samples)
        self.assertFalse(np.array_equal(clips[0].samples[:8000], clips[2].samples[:8000]))
        for clip in clips:
            self.assertEqual(clip.samples.shape, (clip.tokens * TOKEN_SAMPLES,))
            self.assertGreater(rms(clip.samples), 0.005)
            self.assertTrue(np.isnan(clip.track).all())

    def test_without_flite_says_what_to_install(self):
        with mock.patch.object(flite.subprocess, "run", side_effect=FileNotFoundError):
            with self.assertRaisesRegex(Failure, "install the Debian package flite"):
                flite.speak("Hello.", np.random.default_rng(0))

    def test_is_its_share_of_all_clips(self):
        clips, plain = [("a", k) for k in range(1200)], [("b", k) for k in range(7)]
        mixed = live_audio.mixed(clips, plain)
        share = sum(name == "b" for name, _ in mixed) / len(mixed)
        self.assertAlmostEqual(share, live_audio.PLAIN_SHARE, places=3)
        self.assertEqual(len(set(mixed)), 1207)


class Training(unittest.TestCase):
    def test_moves_the_encoder_but_neither_its_head_nor_the_positions(self):
        with tempfile.TemporaryDirectory() as folder:
            work = pathlib.Path(folder)
            before = {"average": train_audio.new_reader().state_dict(), "step": 3}
            save_state(work / "audio.pt", before)
            none_made = mock.patch.object(live_audio, "PLAIN_SHARDS", 0)
            with none_made, mock.patch.object(speech_data, "load", lambda *_: spoken_clips()):
                live_audio.train(work, 2)
            after, is_live = live_audio.states_of(work)
        self.assertTrue(is_live)
        same = {name for name, value in before["average"].items() if torch.equal(value, after["average"][name])}
        self.assertEqual(same, {"head.weight", "head.bias", "encoder.embed_positions.weight"})


class Exported(unittest.TestCase):
    def test_what_the_unet_reads_is_found_in_its_values(self):
        torch.manual_seed(1)
        mouth, spread = torch.randn(8, 64), torch.rand(64) + 0.5

        def block():
            values = torch.cat([mouth + 0.01 * torch.randn(8, 64), torch.randn(24, 64)])
            return types.SimpleNamespace(attn2=types.SimpleNamespace(to_v=types.SimpleNamespace(weight=values)))

        blocks = [(f"down.{k}.transformer_blocks.0", block()) for k in range(5)] + [("mid.norm", None)]
        found = exported.read_by(types.SimpleNamespace(named_modules=lambda: blocks), spread)
        wanted = torch.linalg.qr((mouth * spread).T).Q
        self.assertEqual(tuple(found.shape), (8, 64))
        self.assertGreater(float((found @ wanted).norm() ** 2), 0.99 * 8)

    def test_models_that_begin_a_folder_come_out_of_it_unaltered(self):
        models = ROOT / "assets/demo/models"
        with tempfile.TemporaryDirectory() as folder:
            work = pathlib.Path(folder)
            speech_data.make_shard(work, "train", 0, clips=3)
            with mock.patch.object(exported, "FIT_WINDOWS", 4):
                exported.start(work, models)
                first = (work / "audio.pt").stat().st_mtime_ns
                exported.start(work, models)
            self.assertEqual((work / "audio.pt").stat().st_mtime_ns, first)
            export.export(work, work / "again")
            names = [str(path.relative_to(models)) for path in models.rglob("*") if path.is_file()]
            match, differ, missing = filecmp.cmpfiles(models, work / "again", names, shallow=False)
            self.assertEqual((sorted(match), differ, missing), (sorted(names), [], []))
            with self.assertRaisesRegex(Failure, "exported weights, which this stage cannot train on"):
                train_audio.train(work, 5)
            self.assertIsNone(load_state(work / "live.pt"))
            self.assertEqual(required_state(work / "calm.pt", "calm")["step"], exported.STEP)

    def test_a_folder_with_nets_of_its_own_is_left_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            work = pathlib.Path(folder)
            save_state(work / "audio.pt", {"step": 7})
            with self.assertRaisesRegex(Failure, "audio.pt does not come from .*: name another work folder"):
                exported.start(work, ROOT / "assets/demo/models")
            self.assertEqual(load_state(work / "audio.pt"), {"step": 7})


if __name__ == "__main__":
    unittest.main()
