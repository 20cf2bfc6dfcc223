"""The programs of tools/demo as a user runs them: in any Python, with wrong arguments, in folders that lack things."""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import tools_path  # noqa: F401

import program
import stages
from program import Failure

TOOLS = pathlib.Path(program.__file__).parent
PROGRAMS = ("make", "clip.py", "readme_picture.py", "export.py")
BARE_PYTHON = os.path.realpath(sys.executable)  # that of the system: the environment is a link to it


def ran(name, *arguments, python=(sys.executable,), **environment):
    """(exit status, standard output, standard error) of a program of tools/demo."""
    command = [*python, str(TOOLS / name), *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})
    return result.returncode, result.stdout, result.stderr


class Environment(unittest.TestCase):
    def test_every_program_finds_its_environment_by_itself(self):
        for name in PROGRAMS:
            status, out, err = ran(name, "--help", python=(BARE_PYTHON,))
            self.assertEqual((status, err), (0, ""), name)
            self.assertIn("usage: " + name, out)

    def test_every_program_says_in_one_line_that_there_is_none(self):
        needed = {"make": ["--work", "w"], "clip.py": ["ada", "f"], "readme_picture.py": ["a.mp4"], "export.py": ["t", "f"]}
        with tempfile.TemporaryDirectory() as empty:
            for name in PROGRAMS:
                bare = (BARE_PYTHON, "-S")  # without any package
                status, _, err = ran(name, *needed[name], python=bare, NAVTALK_CACHE=empty)
                self.assertEqual(status, 1, name)
                self.assertRegex(err, rf"^{name}: the Python package numpy is missing: run scripts/python-env\n$")

    def test_a_cache_named_by_a_relative_path_is_the_same_environment(self):
        here = os.path.relpath(pathlib.Path(sys.prefix).parent)
        status, _, err = ran("clip.py", "--help", NAVTALK_CACHE=here)
        self.assertEqual((status, err), (0, ""))


class Arguments(unittest.TestCase):
    def refused(self, expected, name, *arguments, status=1):
        found, _, err = ran(name, *arguments)
        self.assertEqual(found, status, err)
        self.assertNotIn("Traceback", err)
        self.assertRegex(err.splitlines()[-1], expected)

    def test_an_unknown_character_is_named_with_those_that_there_are(self):
        with tempfile.TemporaryDirectory() as folder:
            self.refused("^clip.py: no character 'nobody'; there are ada, theo$", "clip.py", "nobody", folder)

    def test_what_cannot_be_a_number_of_something_is_refused(self):
        for option in ("threads", "speech-shards", "face-shards", "audio-steps", "vae-steps", "unet-steps", "live-steps", "clips"):
            for number in ("0", "-1", "many"):
                expected = f"argument --{option}: .*{number}: must be a whole number from 1 on"
                self.refused(expected, "make", "--work", "w", f"--{option}={number}", status=2)

    def test_a_folder_that_cannot_be_made_is_named(self):
        with tempfile.NamedTemporaryFile() as file:
            self.refused(f"^make: {file.name}/w: Not a directory$", "make", "--work", f"{file.name}/w", "speech")
            self.refused(f"^clip.py: {file.name}/a: Not a directory$", "clip.py", "ada", f"{file.name}/a")

    def test_a_folder_that_cannot_be_written_to_is_named(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(program.os, "access", return_value=False):
            with self.assertRaisesRegex(Failure, f"^{folder} cannot be written to: choose another folder$"):
                program.writable_folder(pathlib.Path(folder))

    def test_a_missing_navtalk_is_said_before_anything_is_made(self):
        with tempfile.TemporaryDirectory() as folder:
            missing = "nowhere/navtalk is missing: build it .*, name another with --navtalk, or name stages"
            self.refused(missing, "make", "--work", f"{folder}/w", "--navtalk", "nowhere/navtalk")
            self.assertEqual(os.listdir(folder), [])

    def test_a_stage_without_what_it_needs_names_the_stage_that_makes_it(self):
        with tempfile.TemporaryDirectory() as work:
            given = argparse.Namespace(work=pathlib.Path(work), output=pathlib.Path(work) / "demo", threads=1)
            given.audio_steps = given.vae_steps = given.clips = given.face_shards = 1
            given.speech = given.warm_vae = given.models = None
            given.live_steps = 1
            for stage, missing in (
                (stages.audio, "speech holds no speech: run the stage speech first"),
                (stages.faces, "audio.pt is missing: run the stage audio first"),
                (stages.vae, "faces holds no shards: run the stage faces first"),
                (stages.calm, "audio.pt is missing: run the stage audio first"),
                (stages.live, "audio.pt is missing: run the stage audio first"),
                (stages.evaluate, "unet.pt is missing: run the stage unet first"),
                (stages.export, "unet.pt is missing: run the stage unet first"),
            ):
                with self.assertRaisesRegex(Failure, f"^{work}/{missing}$", msg=stage.__name__):
                    stage(given)
            self.assertEqual(os.listdir(work), [])

    def test_every_stage_that_make_names_is_there(self):
        status, out, _ = ran("make", "--help")
        named = re.findall(r"^  ([a-z]+) +[a-zA-Z`]", out.split("order:")[1].split("FOLDER is")[0], re.MULTILINE)
        self.assertEqual(status, 0)
        self.assertEqual(len(named), 14)
        self.assertEqual([name for name in named if not callable(getattr(stages, name, None))], [])


if __name__ == "__main__":
    unittest.main()
