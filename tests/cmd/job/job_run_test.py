"""usage: job_run_test.py NAVTALK   job run renders lists of videos: awkward CSV, failures by row, and runs that are cut off"""

import json
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
import wave

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
PATIENCE_S = 300


def navtalk(*arguments, folder, text=None):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, cwd=folder, env=environment(folder), check=False,
                          timeout=PATIENCE_S, input=text)


def environment(folder):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NAVTALK_")}
    return {**kept, "STATE_DIRECTORY": str(folder / "state"), "NAVTALK_LOG_FORMAT": "text"}


def record(path, seconds):
    """A square wave at 300 Hz."""
    rate = 16000
    samples = b"".join((8000 if (i * 300 // rate) % 2 else -8000).to_bytes(2, "little", signed=True) for i in range(int(seconds * rate)))
    with wave.open(str(path), "wb") as out:
        out.setparams((1, 2, rate, 0, "NONE", ""))
        out.writeframes(samples)


def identity(path):
    found = path.stat()
    return found.st_ino, found.st_mtime_ns


class JobRun(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.top = tempfile.TemporaryDirectory(prefix="navtalk-jobs-")
        source = pathlib.Path(cls.top.name)
        subprocess.run(["ffmpeg", "-loglevel", "error", "-f", "lavfi", "-i", "color=red:s=96x96", "-frames:v", "1", "p.png"],
                       cwd=source, check=True)
        made = navtalk("avatar", "prepare", "--image", "p.png", "--face-box", "20,20,50,50", "--no-latents", "--output", "red",
                       folder=source)
        assert made.returncode == 0, made.stderr
        cls.avatar = source / "red"

    @classmethod
    def tearDownClass(cls):
        cls.top.cleanup()

    def setUp(self):
        self.place = tempfile.TemporaryDirectory(prefix="navtalk-job-run-")
        self.addCleanup(self.place.cleanup)
        self.folder = pathlib.Path(self.place.name)
        shutil.copytree(self.avatar, self.folder / "red")
        for name in "ab":
            record(self.folder / f"{name}.wav", 0.5)

    def test_a_run_that_still_reads_a_long_list_ends_at_once_when_it_is_stopped(self):
        self.write("avatar,audio,output\n" + "".join(f"./red,a.wav,{i}.mp4\n" for i in range(200_000)))
        with subprocess.Popen([PROGRAM, "job", "run", "--csv", "l.csv", "--state", "s.db"], cwd=self.folder, stderr=subprocess.PIPE,
                              env=environment(self.folder), text=True) as run:
            status = pathlib.Path(f"/proc/{run.pid}/status")
            blocked = 0
            while not blocked & 1 << signal.SIGTERM - 1:  # it takes the signal itself
                blocked = int(next(line for line in status.read_text().splitlines() if line.startswith("SigBlk:")).split()[1], 16)
            run.send_signal(signal.SIGTERM)
            told = run.communicate(timeout=PATIENCE_S)[1]
        self.assertEqual(run.returncode, 143, told)
        self.assertFalse((self.folder / "s.db").exists())  # made when the list was read

    def write(self, text):
        (self.folder / "l.csv").write_bytes(text.encode() if isinstance(text, str) else text)

    def run_list(self, *options):
        return navtalk("job", "run", "--csv", "l.csv", *options, folder=self.folder)

    def jobs(self):
        return json.loads(navtalk("job", "list", "--json", folder=self.folder).stdout)["jobs"]

    def events(self, job):
        shown = navtalk("job", "status", job["id"], "--json", folder=self.folder)
        return [event["event"] for event in json.loads(shown.stdout)["events"]]

    def change_jobs(self, sql, *values):
        with sqlite3.connect(self.folder / "state/jobs.db") as db:
            db.execute(sql, values)
        db.close()

    def partials(self):
        return list(self.folder.rglob("*.partial"))

    def assert_done(self, ran):
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertEqual(self.partials(), [])


class Lists(JobRun):
    def test_quotes_a_byte_order_mark_crlf_and_blank_lines_are_read(self):
        (self.folder / "with, comma.wav").write_bytes((self.folder / "a.wav").read_bytes())
        self.write(b'\xef\xbb\xbfavatar,audio,output,fps\r\n./red,"with, comma.wav","a ""quoted"" name.mp4", 4\r\n\r\n'
                   b'"./red",b.wav,b.webm,4')
        ran = self.run_list("--json")
        self.assert_done(ran)
        rows = [json.loads(line) for line in ran.stdout.splitlines()]
        self.assertEqual([row["row"] for row in rows], [2, 4])
        self.assertEqual([row["frames"] for row in rows], [2, 2])
        self.assertTrue((self.folder / 'a "quoted" name.mp4').exists())
        self.assertTrue((self.folder / "b.webm").exists())

    def test_a_list_that_is_wrong_as_a_whole_renders_nothing(self):
        for text, why in (
            ("avatar,audio\n./red,a.wav\n", "the heading needs the column output"),
            ("avatar,output\n./red,a.mp4\n", "the heading needs the column audio or text"),
            ("audio,output\na.wav,a.mp4\n", "the heading needs the column avatar, or give --avatar"),
            ("avatar,audio,output,frames\n./red,a.wav,a.mp4,f\n", "there is no column 'frames'"),
            ("avatar,audio,audio,output\n./red,a.wav,a.wav,a.mp4\n", "the column audio twice"),
            ("avatar,audio,,output\n./red,a.wav,,a.mp4\n", "a column without a name"),
            ("avatar,audio,output\n./red,a.wav,\"a.mp4\n", "line 2 has a quote that is not closed"),
            ("avatar,audio,output\n./red,\"a\"x,a.mp4\n", "line 2 has text behind a closing quote"),
            ("avatar,audio,output\n", "has no rows below its heading"),
            ("", "l.csv"),
            ("avatar,audio,output\n./red,a\0.wav,a.mp4\n", "has a NUL byte"),
        ):
            with self.subTest(why=why):
                self.write(text)
                ran = self.run_list()
                self.assertEqual(ran.returncode, 3, ran.stderr)
                self.assertIn(why, ran.stderr)
                self.assertFalse((self.folder / "a.mp4").exists())
        self.assertEqual(self.jobs(), [])

    def test_rows_that_fail_stop_no_other_and_are_named_with_their_reason(self):
        (self.folder / "bad.wav").write_text("no sound")
        (self.folder / "there.mp4").write_text("mine")
        self.write("avatar,audio,output,fps\n"
                   "./red,absent.wav,x.mp4,4\n"     # 2
                   "nobody,a.wav,y.mp4,4\n"         # 3
                   "./red,bad.wav,z.mp4,4\n"        # 4
                   "./red,a.wav,a.mp4,4\n"          # 5
                   "./red,b.wav,./red/../a.mp4,4\n" # 6
                   "./red,b.wav,c.mp4,4000000\n"    # 7
                   "./red,b.wav,there.mp4,4\n"      # 8
                   "./red,b.wav,d.mp4\n"            # 9
                   "./red,,e.mp4,4\n"               # 10
                   "./red,b.wav,,4\n"               # 11
                   "./red,b.wav,-,4\n"              # 12
                   "./red,b.wav,b.mp4,4\n")         # 13
        ran = self.run_list("--json")
        self.assertEqual(ran.returncode, 1, ran.stderr)  # for different reasons
        rows = {line["row"]: line for line in map(json.loads, ran.stdout.splitlines()) if "row" in line}
        self.assertEqual(rows[5]["frames"], 2)
        self.assertEqual(rows[13]["frames"], 2)
        for row, code, why in ((2, "not_found", "absent.wav: there is no such file"), (3, "not_found", 'no avatar "nobody"'),
                               (4, "invalid", "bad.wav"), (6, "invalid", "is the output of row 5 already"),
                               (7, "invalid", "--fps"), (8, "invalid", "there.mp4 exists"), (9, "invalid", "3 fields, the heading 4"),
                               (10, "invalid", "neither audio nor text"), (11, "invalid", "has no output"),
                               (12, "invalid", "has - for a file")):
            with self.subTest(row=row):
                self.assertEqual(rows[row]["error"]["code"], code)
                self.assertIn(why, rows[row]["error"]["message"])
                self.assertIn(f"row {row}: ", ran.stderr)
        self.assertIn("10 of 12 inputs failed: row 2, row 3, row 4, row 6", ran.stderr)
        self.assertEqual((self.folder / "there.mp4").read_text(), "mine")
        self.assertEqual(self.partials(), [])

    def test_the_exit_status_is_that_of_the_only_reason(self):
        self.write("avatar,audio,output,fps\n./red,absent.wav,x.mp4,4\n./red,a.wav,a.mp4,4\n")
        self.assertEqual(self.run_list().returncode, 4)
        self.assertEqual(navtalk("job", "run", folder=self.folder).returncode, 2)
        self.assertEqual(navtalk("job", "run", "--folder", "red", folder=self.folder).returncode, 2)
        self.assertEqual(navtalk("job", "run", "--csv", "none.csv", folder=self.folder).returncode, 4)

    def test_a_list_from_standard_input_and_the_files_of_a_folder(self):
        ran = navtalk("job", "run", "--csv", "-", "--avatar", "./red", "--output-dir", "out", folder=self.folder,
                      text="audio,output,fps\na.wav,a.mp4,4\n")
        self.assert_done(ran)
        self.assertTrue((self.folder / "out/a.mp4").exists())
        (self.folder / "in").mkdir()
        for name in ("b.wav", ".hidden.wav"):
            shutil.copy(self.folder / "b.wav", self.folder / "in" / name)
        shutil.copy(self.folder / "a.wav", self.folder / "in/same.wav")
        (self.folder / "in/same.txt").write_text("Hello")
        ran = navtalk("job", "run", "--folder", "in", "--avatar", "./red", "--output-dir", "out", "--format", "webm", folder=self.folder)
        self.assertEqual(ran.returncode, 3, ran.stderr)
        self.assertIn("same.wav: ", ran.stderr)
        self.assertIn("is the output of same.txt already", ran.stderr)
        self.assertEqual({path.name for path in (self.folder / "out").iterdir()} - {"same.webm"}, {"a.mp4", "b.webm"})

    def test_what_is_done_is_not_rendered_again_unless_its_video_or_recording_changed(self):
        self.write("avatar,audio,output,fps\n./red,a.wav,a.mp4,4\n./red,b.wav,b.mp4,4\n")
        self.assert_done(self.run_list())
        before = identity(self.folder / "a.mp4")
        (self.folder / "b.mp4").unlink()
        again = self.run_list("--json")
        self.assert_done(again)
        rows = [json.loads(line) for line in again.stdout.splitlines()]
        self.assertEqual([row.get("rendered_before", False) for row in rows], [True, False])
        self.assertEqual(identity(self.folder / "a.mp4"), before)
        self.assertTrue((self.folder / "b.mp4").exists())
        record(self.folder / "a.wav", 0.75)
        changed = self.run_list()
        self.assertEqual(changed.returncode, 3)
        self.assertIn("a.mp4 exists: choose another output, or --force", changed.stderr)
        self.assertEqual(identity(self.folder / "a.mp4"), before)
        self.assert_done(self.run_list("--force"))
        self.assertNotEqual(identity(self.folder / "a.mp4"), before)

    def test_progress_and_status_count_video_minutes(self):
        self.write("avatar,audio,output,fps\n./red,a.wav,a.mp4,4\n./red,b.wav,b.mp4,4\n")
        ran = self.run_list("--progress", "json")
        self.assert_done(ran)
        steps = [json.loads(line) for line in ran.stderr.splitlines() if '"rendering"' in line]
        self.assertEqual({step["unit"] for step in steps}, {"video-minutes"})
        self.assertEqual({step["total"] for step in steps}, {round(1 / 60, 3)})
        self.assertEqual(steps[-1]["done"], steps[-1]["total"])
        states = json.loads(navtalk("job", "status", "--json", folder=self.folder).stdout)["states"]
        self.assertEqual(states["done"]["jobs"], 2)
        self.assertAlmostEqual(states["done"]["video_minutes"], 1 / 60, 4)
        page = json.loads(navtalk("job", "list", "--json", "--limit", "1", folder=self.folder).stdout)
        rest = json.loads(navtalk("job", "list", "--json", "--only", "done", "--after", str(page["next_cursor"]),
                                  folder=self.folder).stdout)
        self.assertEqual([len(page["jobs"]), len(rest["jobs"]), rest["next_cursor"]], [1, 1, None])
        self.assertEqual(navtalk("job", "status", "nobody", folder=self.folder).returncode, 4)

    def test_a_state_file_that_is_not_there_is_an_error_for_lists(self):
        for command in ("list", "status"):
            with self.subTest(command=command):
                asked = navtalk("job", command, "--state", "mistyped.db", folder=self.folder)
                self.assertEqual(asked.returncode, 4)
                self.assertIn("mistyped.db: there is no such file", asked.stderr)
                self.assertFalse((self.folder / "mistyped.db").exists())


class Interruptions(JobRun):
    NAMES = ["v0", "v1", "v2", "v3"]

    def setUp(self):
        super().setUp()
        for index, name in enumerate(self.NAMES):
            record(self.folder / f"{name}.wav", 1 + index / 4)
        self.write("avatar,audio,output,fps\n" + "".join(f"./red,{name}.wav,{name}.mp4,10\n" for name in self.NAMES))

    def outputs(self):
        return [path for path in (self.folder / f"{name}.mp4" for name in self.NAMES) if path.exists()]

    def cut_off(self, ready, number):
        """Starts a run, sends it the signal once ready() holds, and returns its exit status."""
        process = subprocess.Popen([PROGRAM, "job", "run", "--csv", "l.csv"], cwd=self.folder, env=environment(self.folder),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + PATIENCE_S
        while not ready() and process.poll() is None:
            self.assertLess(time.monotonic(), end, "the run did not get so far")
            time.sleep(0.005)
        if process.poll() is None:
            process.send_signal(number)
        return process.wait(PATIENCE_S)

    def assert_all_as_infer_renders_them(self):
        for name in self.NAMES:
            with self.subTest(name=name):
                ran = navtalk("infer", "--avatar", "./red", "--audio", f"{name}.wav", "--fps", "10", "--output", f"infer-{name}.mp4",
                              folder=self.folder)
                self.assertEqual(ran.returncode, 0, ran.stderr)
                self.assertEqual((self.folder / f"{name}.mp4").read_bytes(), (self.folder / f"infer-{name}.mp4").read_bytes())

    def test_kills_lose_no_job_and_render_none_twice(self):
        whole = {}
        for ready in (lambda: self.partials(), lambda: len(self.outputs()) >= 1, lambda: len(self.outputs()) >= 2 and self.partials()):
            self.cut_off(ready, signal.SIGKILL)
            for path in self.outputs():
                self.assertEqual(whole.setdefault(path, identity(path)), identity(path), "was rendered twice")
        self.assert_done(self.run_list())
        self.assertEqual(len(self.outputs()), len(self.NAMES))
        for path, before in whole.items():
            self.assertEqual(identity(path), before, "was rendered twice")
        jobs = self.jobs()
        self.assertEqual([job["state"] for job in jobs], ["done"] * len(self.NAMES))
        for job in jobs:
            self.assertEqual(self.events(job).count("finish"), 1)
        self.assert_all_as_infer_renders_them()

    def test_a_signal_puts_the_rest_back_into_the_queue(self):
        status = self.cut_off(lambda: len(self.outputs()) >= 1, signal.SIGINT)
        self.assertIn(status, (130, 0))  # 0: it was quicker
        self.assertEqual(self.partials(), [])
        self.assertEqual({job["state"] for job in self.jobs()} - {"done"}, {"released"} if status else set())
        self.assert_done(self.run_list())
        self.assertEqual(len(self.outputs()), len(self.NAMES))

    def test_a_kill_behind_the_rename_is_known_by_the_file(self):
        """The store's state between the moment at which an output gets its name and the record of that."""
        self.assert_done(self.run_list())
        before = {path: identity(path) for path in self.outputs()}
        self.change_jobs("UPDATE jobs SET state = 2")
        (self.folder / "v1.mp4").unlink()  # it had not got so far
        (self.folder / "v2.mp4").unlink()
        (self.folder / "v2.mp4").write_text("of somebody else")
        ran = self.run_list("--json")
        self.assertEqual(ran.returncode, 3, ran.stderr)
        rows = [json.loads(line) for line in ran.stdout.splitlines() if '"row"' in line]
        self.assertEqual([row["row"] for row in rows if row.get("rendered_before")], [2, 5])
        self.assertEqual([row["row"] for row in rows if "frames" in row], [3])
        self.assertIn("v2.mp4 exists", [row["error"]["message"] for row in rows if "error" in row][0])
        self.assertEqual((self.folder / "v2.mp4").read_text(), "of somebody else")
        for name in ("v0", "v3"):
            self.assertEqual(identity(self.folder / f"{name}.mp4"), before[self.folder / f"{name}.mp4"])
        self.assertEqual([job["state"] for job in self.jobs()], ["done", "done", "failed", "done"])

    def test_two_runs_of_one_list_share_its_jobs(self):
        runs = [subprocess.Popen([PROGRAM, "job", "run", "--csv", "l.csv"], cwd=self.folder, env=environment(self.folder),
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for _ in range(2)]
        for run in runs:
            error = run.communicate(timeout=PATIENCE_S)[1]
            self.assertEqual(run.returncode, 0, error)
        for job in self.jobs():
            self.assertEqual(self.events(job).count("finish"), 1)
        self.assertEqual(len(self.jobs()), len(self.NAMES))
        self.assert_all_as_infer_renders_them()


if __name__ == "__main__":
    unittest.main()
