"""How clips, bundles and models get into the output folder, with a navtalk that only writes down what it was asked."""

import json
import pathlib
import shutil
import tempfile
import unittest
from unittest import mock

import tools_path  # noqa: F401

import avatars
import clip
import files
from faces import renderer
from faces.characters import AVATARS
from program import Failure

# Makes the last option's folder of `avatar prepare`, and appends its arguments to a file beside itself.
FAKE_NAVTALK = """#!/bin/sh
printf '%s\\n' "$*" >> "$0.asked"
while [ $# -gt 0 ]; do
  case $1 in --video) video=$2 ;; --output) output=$2 ;; esac
  shift
done
rm -rf "$output" && mkdir "$output" && cp "$video" "$output/frames.mp4" && printf '{}' > "$output/avatar.json"
"""


def written(folder, **contents):
    """A folder with these files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in contents.items():
        (folder / name).write_text(text)
    return folder


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = pathlib.Path(folder.name)


class Shipped(unittest.TestCase):
    def test_the_model_names_the_avatars_that_it_was_made_for(self):
        demo = pathlib.Path(__file__).resolve().parents[2] / "assets/demo"
        about = json.loads((demo / "models/navtalk.json").read_text())
        self.assertEqual(about, {"made_for": sorted(AVATARS)})
        self.assertEqual(about["made_for"], sorted(path.name for path in (demo / "avatars").iterdir()))


class Replacing(Folder):
    def contents(self, folder):
        return {path.name: path.read_text() for path in (self.top / folder).iterdir()}

    def test_takes_the_place_of_what_was_there_whole(self):
        made, target = written(self.top / "made", a="new"), written(self.top / "target", a="old", b="old")
        files.replace_folder(made, target, {"a", "b"})
        self.assertEqual(self.contents("target"), {"a": "new"})
        self.assertFalse(made.exists())

    def test_refuses_a_folder_of_another_kind_and_leaves_it(self):
        made, target = written(self.top / "made", a="new"), written(self.top / "target", a="old", thesis="mine")
        with self.assertRaisesRegex(Failure, "target holds thesis, which would be lost"):
            files.replace_folder(made, target, {"a"})
        self.assertEqual(self.contents("target"), {"a": "old", "thesis": "mine"})

    def test_exchanges_where_the_file_system_cannot(self):
        made, target = written(self.top / "made", a="new"), written(self.top / "target", a="old")
        refusing = mock.Mock()
        refusing.renameat2.return_value = -1
        with mock.patch.object(files.ctypes, "CDLL", return_value=refusing):
            files.replace_folder(made, target, {"a"})
        self.assertEqual(self.contents("target"), {"a": "new"})
        self.assertEqual([path.name for path in self.top.iterdir()], ["target"])


class Bundles(Folder):
    def setUp(self):
        super().setUp()
        self.work, self.output, self.navtalk = self.top / "work", self.top / "demo", self.top / "navtalk"
        self.navtalk.write_text(FAKE_NAVTALK)
        self.navtalk.chmod(0o755)

    def make(self, anew=False):
        """Both stages, with clips of five small frames."""
        self.rendered, make = [], clip.make

        def make_small(folder, wanted, threads):
            self.rendered.append(wanted)
            return make(folder, clip.Clip(wanted.character, size=32, seconds=0.2), threads)

        with mock.patch.object(clip, "make", make_small):
            avatars.make_clips(self.work, self.output, anew, 1)
        avatars.make_avatars(self.work, self.output, self.navtalk, anew)

    def asked(self):
        return pathlib.Path(f"{self.navtalk}.asked").read_text().splitlines()

    def test_are_made_of_rendered_clips_with_the_face_box_of_their_size(self):
        self.make()
        self.assertEqual(self.rendered, [clip.Clip(name) for name in AVATARS])
        for name, line in zip(AVATARS, self.asked()):
            box = ",".join(map(str, renderer.face_box(name, 32)))
            self.assertIn(f"avatar prepare --video {self.work}/clips/{name}/avatar.mp4 --face-box {box} ", line)
            bundle = self.output / "avatars" / name
            self.assertEqual(sorted(path.name for path in bundle.iterdir()), ["avatar.json", "frames.mp4"])
            self.assertIn(f" --loop --voice {AVATARS[name].voice} ", line)
        self.assertIn(f"--models {self.output}/models ", self.asked()[0])
        self.assertIn("--no-latents ", self.asked()[1])

    def test_keep_their_clips_byte_for_byte_unless_new_ones_are_asked_for(self):
        self.make()
        shipped = self.output / "avatars/ada/frames.mp4"
        before = shipped.read_bytes()
        shutil.rmtree(self.work)
        self.make()
        self.assertEqual(self.rendered, [])
        self.assertEqual(shipped.read_bytes(), before)
        self.assertIn(f"--video {shipped} ", self.asked()[2])
        self.make(anew=True)
        self.assertEqual(len(self.rendered), len(AVATARS))

    def test_a_preparation_that_fails_leaves_the_bundle_that_was_there(self):
        self.make()
        before = (self.output / "avatars/ada/avatar.json").stat().st_mtime_ns
        self.navtalk.write_text("#!/bin/sh\nexit 3\n")
        with self.assertRaisesRegex(Failure, "navtalk avatar prepare failed"):
            self.make()
        self.assertEqual((self.output / "avatars/ada/avatar.json").stat().st_mtime_ns, before)

    def test_without_a_clip_the_stage_is_named(self):
        with self.assertRaisesRegex(Failure, "clips/ada/avatar.mp4 is missing: run the stage clips first"):
            avatars.make_avatars(self.work, self.output, self.navtalk, False)


class Shipped(unittest.TestCase):
    def test_bundles_have_the_characters_boxes_and_voices(self):
        shipped = pathlib.Path(avatars.__file__).resolve().parents[2] / "assets/demo/avatars"
        for name in AVATARS:
            x, y, width, height = renderer.face_box(name, 704)
            first = json.loads((shipped / name / "faces.json").read_text())["frames"][0]
            self.assertEqual(first["box"], [x, y, x + width, y + height])
            about = json.loads((shipped / name / "avatar.json").read_text())
            self.assertEqual((about["loop"], about["voice"]), (True, AVATARS[name].voice))


if __name__ == "__main__":
    unittest.main()
