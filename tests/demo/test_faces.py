"""Framing, the shards of faces, losses, checkpoints and the figures of evaluation."""

import dataclasses
import pathlib
import tempfile
import unittest
from unittest import mock

import tools_path  # noqa: F401
import numpy as np
import torch

from evaluation import figures
from evaluation.probe import Probe
from faces import face_data, framing
from faces.calibration import Calibration
from faces.degrade import degraded
from files import load_state, save_state
from nets import encoder_start, head_start, self_attention
from nets.audio_encoder import frame_windows, positional_table
from nets.sizes import fresh_nets
from training import calm_audio, losses, train_audio, train_unet
from training.contexts import Contexts, rare_first
from training.run import Run, learning_rate


def store(count):
    rng = np.random.default_rng(0)
    flat = Calibration(np.zeros((201, 8)), np.zeros((201, 8)))
    return Contexts(rng.random((count, 50, 64)).astype(np.float16), rng.random((count, 8)), flat)


def fake_render(_character, rows, size, view="full", threads=1):
    """Frames whose every pixel is the row's jaw."""
    return np.repeat((rows[:, 0] * 255).astype(np.uint8), size * size * 3).reshape(-1, size, size, 3)


class Framing(unittest.TestCase):
    def test_a_part_s_view_covers_its_pixels(self):
        view = np.array([[0.1, -0.2, 0.8]])
        x, y, half = framing.part_view(view)[0]
        pixel = 2 * 0.8 / framing.FACE
        self.assertAlmostEqual(x - half, 0.1 - 0.8 + framing.PART_COLUMN * pixel)
        self.assertAlmostEqual(y + half, -0.2 + 0.8 - framing.PART_ROW * pixel)
        self.assertAlmostEqual(2 * half, framing.PART * pixel)

    def test_masking_blanks_the_lower_half_of_a_copy(self):
        crops = np.full((2, 256, 256, 3), 9, np.uint8)
        blank = framing.masked(crops)
        self.assertTrue((blank[:, :128] == 9).all() and (blank[:, 128:] == 0).all())
        self.assertTrue((crops == 9).all())

    def test_jitter_stays_within_two_percent(self):
        views = framing.jittered((0.0, 0.0, 1.0), 500, np.random.default_rng(0))
        self.assertLessEqual(np.abs(views[:, :2]).max(), 0.0401)
        self.assertLessEqual(np.abs(views[:, 2] - 1).max(), 0.0201)
        self.assertGreater((views == [0, 0, 1]).all(axis=1).mean(), 0.3)

    def test_a_clip_degrades_a_crop_a_little_and_repeatably(self):
        ramp = np.tile(np.arange(256, dtype=np.uint8)[:, None, None], (1, 256, 3))
        first, again = (degraded(ramp, np.random.default_rng(4)) for _ in range(2))
        np.testing.assert_array_equal(first, again)
        self.assertLess(np.abs(first.astype(int) - ramp).mean(), 4)


class Shards(unittest.TestCase):
    def make(self, work, contexts):
        with mock.patch.multiple(
            face_data.renderer,
            render=mock.Mock(side_effect=fake_render),
            face_view=lambda _: (0.0, 0.0, 1.0),
        ):
            return face_data.make_shard(work, "ada", 2, contexts, groups=3)

    def test_a_shard_is_made_once_and_again_the_same(self):
        contexts = store(40)
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
            one, two = pathlib.Path(one), pathlib.Path(two)
            self.assertTrue(self.make(one, contexts))
            self.assertFalse(self.make(one, contexts))
            self.make(two, contexts)
            for name in ("reference", "parts", "mouths", "context"):
                first = face_data.load_one(one, name)
                np.testing.assert_array_equal(first, face_data.load_one(two, name), name)
            chosen = face_data.load_one(one, "context")
            np.testing.assert_allclose(
                face_data.load_one(one, "mouths"), contexts.mouths[chosen], rtol=1e-6
            )
            self.assertEqual(face_data.load_one(one, "parts").shape, (3, 3, 192, 192, 3))

    def test_shards_of_an_encoder_that_learned_on_are_made_again(self):
        with tempfile.TemporaryDirectory() as folder:
            work = pathlib.Path(folder)
            self.assertTrue(self.make(work, store(40)))
            further = dataclasses.replace(store(40), made_of=500)
            self.assertTrue(self.make(work, further))
            self.assertFalse(self.make(work, further))

    def test_groups_held_back_never_train_and_come_from_everywhere(self):
        training, held = face_data.split(960)
        self.assertEqual(len(held), face_data.HELD_BACK)
        self.assertFalse(set(training) & set(held))
        self.assertLess(held[0], 100)
        self.assertGreater(held[-1], 860)

    def test_rare_mouths_are_drawn_more_often(self):
        mouths = np.concatenate([np.zeros((99, 8)), np.full((1, 8), 0.9)])
        probability = rare_first(mouths)
        self.assertAlmostEqual(probability.sum(), 1)
        self.assertAlmostEqual(probability[-1] / probability[0], 99**0.5, places=5)

    def test_neighbours_have_the_same_mouth(self):
        contexts = store(300)
        chosen = np.array([5, 17])
        alike = train_unet.neighbours(contexts, chosen)
        self.assertEqual(alike.shape, (2, train_unet.NEIGHBOURS))
        np.testing.assert_array_equal(alike[:, 0], chosen)
        apart = np.abs(contexts.mouths[alike] - contexts.mouths[chosen][:, None])
        self.assertLess(apart.max(), train_unet.NEIGHBOURHOOD)


class Losses(unittest.TestCase):
    def test_equal_pictures_cost_nothing_and_blur_costs(self):
        torch.manual_seed(0)
        truth = torch.rand(2, 3, 64, 64) * 2 - 1
        weight = torch.ones(1, 1, 64, 64)
        for name, value in losses.picture_losses(truth, truth, weight).items():
            self.assertEqual(value.shape, (), name)
            self.assertEqual(value.item(), 0, name)
        blurred = torch.nn.functional.avg_pool2d(truth, 3, 1, 1)
        for value in losses.picture_losses(blurred, truth, weight).values():
            self.assertGreater(value.item(), 0.01)

    def test_weights_have_mean_one_and_favour_the_mouth(self):
        for weight, mouth, brow in (
            (losses.importance(), (200, 128), (20, 128)),
            (train_unet.latent_weight(), (25, 16), (2, 16)),
        ):
            self.assertAlmostEqual(weight.mean().item(), 1, places=5)
            self.assertGreater(weight[0, 0][mouth], 10 * weight[0, 0][brow])

    def test_a_gradient_looks_right_and_down(self):
        picture = torch.zeros(1, 1, 3, 3)
        picture[0, 0, 1, 1] = 1
        right, lower = losses.gradients(picture)
        self.assertEqual((right[0, 0, 1, 0], right[0, 0, 1, 1]), (1, -1))
        self.assertEqual((lower[0, 0, 0, 1], lower[0, 0, 1, 1]), (1, -1))


class Mouths(unittest.TestCase):
    def test_a_tremble_costs_more_than_an_offset_of_its_size(self):
        track = torch.zeros(1, 40, 8)
        offset = torch.full_like(track, 0.1)
        tremble = offset * torch.tensor([1.0, 1, -1, -1]).repeat(10)[None, :, None]
        weights = torch.ones(8)
        costs = [train_audio.losses(mouths, track, weights) for mouths in (track, offset, tremble)]
        self.assertEqual([c["tremble"].item() for c in costs[:2]], [0, 0])
        torch.testing.assert_close(costs[1]["mouth"], costs[2]["mouth"])
        torch.testing.assert_close(costs[2]["tremble"].item() / train_audio.TREMBLE_WEIGHT, 0.16)


class Trainings(unittest.TestCase):
    def test_a_killed_training_goes_on_where_it_was(self):
        def steps(folder, count, until):
            torch.manual_seed(0)
            run = Run(pathlib.Path(folder) / "net.pt", torch.nn.Linear(4, 2), 1e-2)
            while run.step < until:
                x = torch.from_numpy(run.generator().random((8, 4), np.float32))
                run.advance({"square": (run.module(x) ** 2).mean()}, count)
            run.save()
            return run

        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
            whole = steps(one, 9, 9)
            steps(two, 9, 4)
            (pathlib.Path(two) / "net.pt.partial").write_bytes(b"half a file")
            resumed = steps(two, 9, 9)
            for key, value in whole.average.state.items():
                torch.testing.assert_close(value, resumed.average.state[key])
            torch.testing.assert_close(whole.module.weight, resumed.module.weight)

    def test_calming_that_was_stopped_goes_on_where_it_was(self):
        reader = train_audio.new_reader().state_dict()
        rng = np.random.default_rng(0)
        spoken = [(rng.standard_normal(16000).astype(np.float32) / 10, rng.random((50, 8), np.float32))]
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
            one, two = pathlib.Path(one), pathlib.Path(two)
            for work in (one, two):
                save_state(work / "audio.pt", {"average": reader, "step": 7})
            with mock.patch.multiple(calm_audio, STEPS=4, REPORT_EVERY=2, WINDOWS=(8,)), mock.patch.object(
                calm_audio.speech_data, "load", return_value=spoken
            ):
                calm_audio.calm(one)
                batches = [train_audio.batch, train_audio.batch, mock.Mock(side_effect=KeyboardInterrupt)]
                with mock.patch.object(train_audio, "batch", lambda *given: batches.pop(0)(*given)):
                    with self.assertRaises(KeyboardInterrupt):
                        calm_audio.calm(two)
                self.assertEqual(load_state(two / "calming.pt")["step"], 2)
                calm_audio.calm(two)
            self.assertEqual(sorted(path.name for path in two.iterdir()), ["audio.pt", "calm.pt"])
            whole, resumed = (load_state(work / "calm.pt")["average"] for work in (one, two))
            for key, value in whole.items():
                torch.testing.assert_close(value, resumed[key])

    def test_the_learning_rate_warms_up_stays_and_settles(self):
        rates = [learning_rate(step, 10000, 1.0) for step in (0, 1000, 6000, 9999)]
        self.assertLess(rates[0], 0.01)
        self.assertEqual(rates[1:3], [1.0, 1.0])
        self.assertLess(rates[3], 0.04)

    def test_skipping_the_silenced_self_attention_changes_nothing(self):
        unet = fresh_nets().unet.eval()
        self_attention.silence(unet)
        known, context = torch.randn(1, 8, 32, 32), torch.randn(1, 50, 64)
        with torch.no_grad():
            used = unet(known, train_unet.TIMESTEP, context).sample
            self_attention.skip(unet)
            skipped = unet(known, train_unet.TIMESTEP, context).sample
            self_attention.use(unet)
            again = unet(known, train_unet.TIMESTEP, context).sample
        torch.testing.assert_close(used, skipped)
        torch.testing.assert_close(used, again)

    def test_a_fresh_encoder_s_heads_look_at_their_offsets(self):
        encoder = fresh_nets().whisper.eval()
        encoder_start.begin(encoder)
        attention = encoder.layers[0].self_attn
        with torch.no_grad():
            state = encoder.layers[0].self_attn_layer_norm(encoder.embed_positions.weight[None, :80])
            queries, keys = attention.q_proj(state)[0], attention.k_proj(state)[0]
        for head, offset in enumerate(encoder_start.OFFSETS[0]):
            part = slice(32 * head, 32 * head + 32)
            seen = (queries[:, part] @ keys[:, part].T).argmax(1)
            self.assertTrue((seen[20:60] == torch.arange(20, 60) + offset).all())

    def test_a_fresh_unet_copies_the_reference_at_once(self):
        torch.manual_seed(0)
        unet = train_unet.new_unet().eval()
        head_start.copy_reference(unet)
        known = torch.nn.functional.avg_pool2d(torch.randn(2, 8, 36, 36), 5, 1) * 5
        with torch.no_grad():
            made = unet(known, train_unet.TIMESTEP, torch.randn(2, 50, 64)).sample
        for channel in range(4):
            r = figures.correlation(made[:, channel].numpy().ravel(), known[:, 4 + channel].numpy().ravel())
            self.assertGreater(r, 0.98)

    def test_the_key_finds_the_middle_token_s_last_state(self):
        torch.manual_seed(0)
        layers = torch.randn(5, 64).repeat(10, 1)  # each layer's states have a mean of their own
        contexts = 0.5 * torch.randn(400, 50, 64) + layers + positional_table(50, 64)
        found = (contexts @ head_start.middle_key(contexts)).argmax(1)
        self.assertGreater((found == head_start.MIDDLE_ROW).float().mean().item(), 0.9)

    def test_a_frame_sees_tokens_from_four_before_to_five_after(self):
        states = torch.arange(1.0, 41)[:, None, None].expand(40, 5, 1)  # a token's number plus one
        windows = frame_windows(states, torch.tensor([0, 10, 19])).reshape(3, 10, 5)
        self.assertEqual(windows[1, :, 0].tolist(), list(range(17, 27)))
        self.assertEqual(windows[0, :, 2].tolist(), [0, 0, 0, 0, 1, 2, 3, 4, 5, 6])
        self.assertEqual(windows[2, 6:, 4].tolist(), [0, 0, 0, 0])

    def test_the_positional_table_interleaves_sine_and_cosine(self):
        table = positional_table(3, 4)
        expected = [np.sin(2), np.cos(2), np.sin(0.02), np.cos(0.02)]
        np.testing.assert_allclose(table[2], expected, rtol=1e-5)


class Figures(unittest.TestCase):
    def test_silence_is_rest_with_rest_around_it(self):
        track = np.zeros((12, 8))
        track[5, 0] = 0.5
        expected = [True] * 3 + [False] * 5 + [True] * 4
        self.assertEqual(figures.silent_frames(track).tolist(), expected)

    def test_second_difference_of_a_line_is_zero_and_of_a_zigzag_four(self):
        self.assertEqual(figures.second_difference(np.arange(9.0)), 0)
        self.assertEqual(figures.second_difference(np.array([1.0, -1] * 5)), 4)

    def test_gradient_energy_of_stripes_is_known_and_blur_loses_it(self):
        stripes = np.zeros((1, 256, 256, 3), np.uint8)
        stripes[:, :, ::2] = 10
        self.assertAlmostEqual(figures.gradient_energy(stripes), 100)
        self.assertEqual(figures.gradient_energy(np.full_like(stripes, 5)), 0)

    def test_psnr_of_one_level_is_48_decibels(self):
        truth = np.full((1, 8, 8, 3), 100, np.uint8)
        self.assertAlmostEqual(figures.psnr(truth + 1, truth), 48.13, places=2)
        self.assertEqual(figures.psnr(truth, truth), float("inf"))

    def test_correlation_of_a_constant_is_zero(self):
        self.assertEqual(figures.correlation(np.ones(5), np.arange(5.0)), 0)
        self.assertAlmostEqual(figures.correlation(np.arange(5.0), 3 - np.arange(5.0)), -1)

    def test_the_seam_is_seen_at_the_mask_s_edge_only(self):
        clip = np.zeros((1, 256, 256, 3), np.uint8)
        middle, edge = clip.copy(), clip.copy()
        middle[:, 180:200, 110:140] = 200
        edge[:, 240:250] = 200
        self.assertEqual(figures.seam(middle, clip), 0)
        self.assertGreater(figures.seam(edge, clip), 10)

    def test_the_probe_reads_an_opening_back(self):
        rng = np.random.default_rng(0)
        mouths = rng.random((80, 8)).astype(np.float32)
        crops = np.full((80, 256, 256, 3), 180, np.uint8)
        for crop, mouth in zip(crops, mouths):
            crop[190 : 190 + int(mouth[0] * 40), 100:156] = 20
        probe = Probe.fit(crops[:60], mouths[:60])
        self.assertGreater(figures.correlation(probe(crops[60:])[:, 0], mouths[60:, 0]), 0.95)


if __name__ == "__main__":
    unittest.main()
