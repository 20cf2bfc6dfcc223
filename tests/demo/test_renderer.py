"""The characters' renderer, the idle motion, and the clip made of both."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import tools_path  # noqa: F401
import numpy as np

import clip
import readme_picture
from faces import renderer
from program import Failure

TOOLS = pathlib.Path(clip.__file__).parent
CHARACTERS = ("ada", "theo")


def mouth_window(character, half=0.22):
    """A window around the resting mouth, on which it takes about half of the width."""
    x, y, face = renderer.face_view(character)
    return dict(view_x=x, view_y=y - 0.22 * face, view_half=half)


def teeth_in(frames):
    """bool [N, H, W]: bright and without colour."""
    frames = frames.astype(int)
    return (frames.min(axis=3) > 140) & (frames.max(axis=3) - frames.min(axis=3) < 32)


def hollow_in(frames):
    """bool [N, H, W]: the dark behind the lips."""
    return frames.max(axis=3) < 60


class Rows(unittest.TestCase):
    def test_of_another_width_are_refused(self):
        with self.assertRaisesRegex(renderer.RenderError, r"shape \(3, 8\)"):
            renderer.render("ada", np.zeros((3, 8)), 16)

    def test_that_are_not_numbers_are_named(self):
        rows = renderer.neutral(3)
        rows[2, renderer.BROW] = np.nan
        with self.assertRaisesRegex(renderer.RenderError, "row 2: brow"):
            renderer.render("ada", rows, 16)

    def test_that_are_cut_off_are_refused_by_the_program(self):
        command = [renderer.program(), "--character", "ada", "--size", "16"]
        result = subprocess.run(command, input=b"\0" * 100, capture_output=True)
        self.assertEqual(result.returncode, 2)
        self.assertIn(b"row 1 is cut off", result.stderr)


class Arguments(unittest.TestCase):
    def test_an_unknown_character_is_named_with_those_that_there_are(self):
        with self.assertRaisesRegex(renderer.RenderError, "no character 'eve' .*ada, theo"):
            renderer.render("eve", renderer.neutral(1), 16)

    def test_a_size_that_no_block_divides_is_refused(self):
        with self.assertRaisesRegex(renderer.RenderError, "multiple of 4"):
            renderer.render("ada", renderer.neutral(1), 18)


class Frames(unittest.TestCase):
    def test_are_the_same_for_the_same_rows_and_any_number_of_threads(self):
        rows = renderer.neutral(2, jaw=0.4, yaw=0.1)
        first = renderer.render("theo", rows, 64)
        self.assertTrue(np.array_equal(first[0], first[1]))
        self.assertTrue(np.array_equal(first, renderer.render("theo", rows, 64, threads=3)))

    def test_open_the_mouth_with_the_jaw_and_close_it_at_rest(self):
        for character in CHARACTERS:
            rows = renderer.neutral(4, **mouth_window(character))
            rows[:, renderer.JAW] = 0, 0.3, 0.6, 1
            frames = renderer.render(character, rows, 64)
            teeth = teeth_in(frames).sum(axis=(1, 2))
            hollow = hollow_in(frames).sum(axis=(1, 2))
            self.assertLess(teeth[0], 20, character)
            self.assertTrue((teeth[1:] > 150).all(), (character, teeth))
            self.assertTrue((np.diff(hollow) > 20).all(), (character, hollow))

    def test_draw_the_corners_of_the_mouth_apart_and_together(self):
        for character in CHARACTERS:
            rows = renderer.neutral(3, jaw=0.3, smile=0, **mouth_window(character, 0.36))
            rows[1, renderer.WIDE] = rows[2, renderer.ROUND] = 1
            frames = renderer.render(character, rows, 96)
            inside = teeth_in(frames) | hollow_in(frames)
            columns = inside[:, 36:60].any(axis=1).sum(axis=1)
            self.assertGreater(columns[1], 1.1 * columns[0], character)
            self.assertLess(columns[2], 0.75 * columns[0], character)

    def test_change_inside_the_face_box_only_when_the_mouth_moves(self):
        size = 128
        for character in CHARACTERS:
            rows = renderer.neutral(2)
            rows[1, renderer.JAW] = 1
            rest, wide = renderer.render(character, rows, size).astype(int)
            x, y, width, height = renderer.face_box(character, size)
            self.assertTrue(0 <= x and 0 <= y and x + width <= size and y + height <= size)
            changed = np.abs(wide - rest).max(axis=2) > 30
            self.assertGreater(changed.sum(), 100)
            inside = changed[y + height // 2 : y + height, x : x + width].sum()
            self.assertGreater(inside, 0.97 * changed.sum(), character)

    def test_show_two_characters(self):
        self.assertEqual(tuple(renderer.characters()), CHARACTERS)
        row = renderer.neutral(1)
        one, other = (renderer.render(name, row, 32).astype(int) for name in CHARACTERS)
        self.assertGreater(np.abs(one - other).mean(), 30)


class Idle(unittest.TestCase):
    def test_motion_loops_without_a_jump(self):
        for seed in range(5):
            rows = renderer.idle_motion(10, seed)
            self.assertEqual(rows.shape, (250, len(renderer.FIELDS)))
            steps = np.abs(np.diff(np.concatenate([rows, rows[:1]]), axis=0))
            self.assertTrue((steps[-1] <= steps[:-1].max(axis=0) + 1e-6).all(), seed)

    def test_motion_rests_the_mouth_and_blinks(self):
        rows = renderer.idle_motion(10, 1)
        self.assertTrue((rows[:, renderer.MOUTH] == 0).all())
        blink = rows[:, renderer.BLINK_LEFT]
        closings = ((blink[1:] > 0.9) & (blink[:-1] <= 0.9)).sum()
        self.assertIn(closings, (1, 2, 3, 4))
        self.assertLess((blink > 0).mean(), 0.15)


class Clip(unittest.TestCase):
    def test_comes_with_its_face_box(self):
        with tempfile.TemporaryDirectory() as folder:
            options = ["--size", "64", "--seconds", "0.4"]
            command = [sys.executable, TOOLS / "clip.py", "theo", folder, *options]
            subprocess.run(command, check=True, capture_output=True)
            about = json.loads((pathlib.Path(folder) / "avatar.json").read_text())
            box = list(renderer.face_box("theo", 64))
            self.assertEqual((about["clip"], about["face_box"]), ("avatar.mp4", box))
            frames = readme_picture.frames_of(pathlib.Path(folder) / "avatar.mp4", 64, 25, 0, 9)
            self.assertEqual(len(frames), 10)

    def test_that_was_stopped_goes_on_where_it_was_and_becomes_the_same(self):
        short = clip.Clip("ada", size=32, seconds=3)
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
            one, two = pathlib.Path(one), pathlib.Path(two)
            clip.make(one, short)
            pieces = 0

            def render(*arguments, **options):
                nonlocal pieces
                pieces += 1
                if pieces == 3:
                    raise KeyboardInterrupt
                return render_all(*arguments, **options)

            render_all = renderer.render
            with mock.patch.object(renderer, "render", render):
                with self.assertRaises(KeyboardInterrupt):
                    clip.make(two, short)
                self.assertFalse((two / "avatar.mp4").exists())
                self.assertTrue(clip.make(two, short))
                self.assertEqual(pieces, 4)  # the third again, and no other
                self.assertFalse(clip.make(two, short))
            self.assertEqual((one / "avatar.mp4").read_bytes(), (two / "avatar.mp4").read_bytes())
            self.assertEqual(sorted(path.name for path in two.iterdir()), ["avatar.json", "avatar.mp4"])

    def test_with_other_options_is_another_clip(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            self.assertTrue(clip.make(folder, clip.Clip("ada", size=32, seconds=0.2)))
            self.assertTrue(clip.make(folder, clip.Clip("ada", size=32, seconds=0.2, seed=2)))
            self.assertTrue(clip.make(folder, clip.Clip("theo", size=32, seconds=0.2, seed=2)))

    def test_that_cannot_be_encoded_leaves_no_video(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "avatar.partial").mkdir()  # where the encoder writes
            with self.assertRaisesRegex(Failure, "ffmpeg ended with status"):
                clip.make(folder, clip.Clip("ada", size=32, seconds=0.2))
            self.assertFalse((folder / "avatar.mp4").exists() or (folder / "avatar.json").exists())


if __name__ == "__main__":
    unittest.main()
