"""usage: job_segments_test.py NAVTALK   long videos of job run are rendered in segments: kills, damaged and missing segments, full disks"""

import json
import os
import pathlib
import resource
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
SPEECH_S = 45  # at one frame a second
BATCH = 4
SEGMENT_FRAMES = 12  # ten seconds, in whole batches
SEGMENTS = 4


def record(path, seconds):
    """A square wave whose pitch differs from second to second."""
    rate = 16000
    with wave.open(str(path), "wb") as out:
        out.setparams((1, 2, rate, 0, "NONE", ""))
        out.writeframes(b"".join((6000 if (i * (150 + 70 * (i // rate % 5)) // rate) % 2 else -6000).to_bytes(2, "little", signed=True)
                                 for i in range(seconds * rate)))


class Segments(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="navtalk-segments-")
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)
        self.work = self.folder / "state/jobs.db.segments"
        subprocess.run(["ffmpeg", "-loglevel", "error", "-f", "lavfi", "-i", "testsrc2=s=96x96", "-frames:v", "1", "p.png"],
                       cwd=self.folder, check=True)
        self.assert_ok(self.navtalk("avatar", "prepare", "--image", "p.png", "--face-box", "20,20,50,50", "--no-latents",
                                    "--output", "red"))
        record(self.folder / "a.wav", SPEECH_S)

    def environment(self):
        kept = {name: value for name, value in os.environ.items() if not name.startswith("NAVTALK_")}
        return {**kept, "STATE_DIRECTORY": str(self.folder / "state"), "NAVTALK_LOG_FORMAT": "text"}

    def navtalk(self, *arguments, **more):
        return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, cwd=self.folder, env=self.environment(),
                              check=False, timeout=PATIENCE_S, **more)

    def assert_ok(self, ran):
        self.assertEqual(ran.returncode, 0, ran.stderr)

    def list_command(self, output, crf=18):
        (self.folder / f"{output}.csv").write_text(f"avatar,audio,output,fps,crf\n./red,a.wav,{output},1,{crf}\n")
        return ["job", "run", "--csv", f"{output}.csv", "--batch", str(BATCH), "--progress", "json"]

    def finish(self, output, frames):
        """Runs the list to its end, which has to render so many frames."""
        ran = self.navtalk(*self.list_command(output), "--json")
        self.assert_ok(ran)
        row = json.loads(ran.stdout)
        self.assertEqual((row["frames"], row["rendered_frames"]), (SPEECH_S, frames))
        self.assertFalse(self.work.exists(), "the work folder stays")
        return ran

    def segments(self):
        return sorted(self.work.glob("*/*.mp4"))

    def kill_at(self, output, segments, number=signal.SIGKILL):
        """Ends a run by the signal once it has recorded so many segments."""
        process = subprocess.Popen([PROGRAM, *self.list_command(output)], cwd=self.folder, env=self.environment(),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + PATIENCE_S
        while len(self.segments()) < segments and process.poll() is None:
            self.assertLess(time.monotonic(), end, "the run did not get so far")
            time.sleep(0.002)
        process.send_signal(number)
        self.assertNotEqual(process.wait(PATIENCE_S), 0, "the run was quicker than the signal")
        return [path.stat().st_ino for path in self.segments()]

    def job(self):
        return json.loads(self.navtalk("job", "list", "--json").stdout)["jobs"][-1]

    def segment_events(self):
        shown = json.loads(self.navtalk("job", "status", self.job()["id"], "--json").stdout)
        return [event["why"] for event in shown["events"] if event["event"] == "segment"]

    def probe(self, name, *what):
        return subprocess.run(["ffprobe", "-loglevel", "error", *what, "-of", "json", name], cwd=self.folder, capture_output=True,
                              text=True, check=True).stdout

    def decoded(self, name):
        return subprocess.run(["ffmpeg", "-loglevel", "error", "-i", name, "-map", "0:v", "-pix_fmt", "yuv420p", "-f", "rawvideo", "-"],
                              cwd=self.folder, capture_output=True, check=True).stdout

    def whole(self):
        self.finish("whole.mp4", SPEECH_S)
        return (self.folder / "whole.mp4").read_bytes()

    def test_a_joined_video_has_the_times_the_sound_and_the_pictures_of_infers(self):
        self.whole()
        self.assertEqual(len(self.segment_events()), SEGMENTS)
        self.assert_ok(self.navtalk("infer", "--avatar", "./red", "--audio", "a.wav", "--fps", "1", "--batch", str(BATCH),
                                    "--output", "infer.mp4"))
        for stream in ("v", "a"):
            with self.subTest(stream=stream):
                shown = [sorted((packet["pts"], packet["duration"]) for packet in
                                json.loads(self.probe(name, "-select_streams", stream, "-show_packets"))["packets"])
                         for name in ("whole.mp4", "infer.mp4")]
                self.assertEqual(*shown)
        sound = [subprocess.run(["ffmpeg", "-loglevel", "error", "-i", name, "-map", "0:a", "-c", "copy", "-f", "md5", "-"],
                                cwd=self.folder, capture_output=True, check=True).stdout for name in ("whole.mp4", "infer.mp4")]
        self.assertEqual(*sound)
        joined, once = self.decoded("whole.mp4"), self.decoded("infer.mp4")
        self.assertEqual(len(joined), len(once))
        size = 96 * 96 * 3 // 2
        self.assertEqual(len(once) // size, SPEECH_S)
        for t in range(SPEECH_S):
            a, b = joined[t * size:(t + 1) * size], once[t * size:(t + 1) * size]
            self.assertLess(sum((x - y) ** 2 for x, y in zip(a, b)) / size, 6.5, f"frame {t}: less than 40 dB")

    def test_pictures_that_are_coded_without_loss_are_infers_bit_for_bit(self):
        self.assert_ok(self.navtalk(*self.list_command("joined.mkv", crf=0)))
        self.assertEqual(len(self.segment_events()), SEGMENTS)
        self.assert_ok(self.navtalk("infer", "--avatar", "./red", "--audio", "a.wav", "--fps", "1", "--batch", str(BATCH), "--crf", "0",
                                    "--output", "infer.mkv"))
        self.assertEqual(self.decoded("joined.mkv"), self.decoded("infer.mkv"))

    def test_a_killed_run_goes_on_behind_its_last_segment_and_ends_with_the_same_bytes(self):
        whole = self.whole()
        for segments in (1, 3):
            self.kill_at("cut.mp4", segments)
        recorded = len(self.segment_events())
        self.assertGreaterEqual(recorded, 2)
        self.finish("cut.mp4", max(SPEECH_S - recorded * SEGMENT_FRAMES, 0))
        self.assertEqual((self.folder / "cut.mp4").read_bytes(), whole)
        self.assertEqual(self.segment_events(), [f"segment {index}" for index in range(SEGMENTS)])

    def test_segments_that_are_damaged_or_missing_are_rendered_again(self):
        whole = self.whole()
        self.kill_at("cut.mp4", 3)
        recorded = len(self.segment_events())
        first, second, *_ = self.segments()
        content = bytearray(first.read_bytes())
        content[len(content) // 2] ^= 1
        first.write_bytes(content)
        second.unlink()
        ran = self.finish("cut.mp4", max(SPEECH_S - recorded * SEGMENT_FRAMES, 0) + 2 * SEGMENT_FRAMES)
        for path in (first, second):
            self.assertIn(f"{path.name}: this finished segment is missing or has changed", ran.stderr)
        self.assertEqual((self.folder / "cut.mp4").read_bytes(), whole)

    def test_a_segment_of_another_device_is_rendered_again_and_one_that_names_none_stays(self):
        self.kill_at("cut.mp4", 3)
        with sqlite3.connect(self.folder / "state/jobs.db") as db:
            parts = {part: json.loads(record) for part, record in db.execute("SELECT part, result FROM job_segments")}
            self.assertEqual({record["device"] for record in parts.values()}, {"cpu"})
            parts[0]["device"] = "cuda"
            del parts[1]["device"]
            for part in (0, 1):
                db.execute("UPDATE job_segments SET result = ? WHERE part = ?",
                           (json.dumps(parts[part], separators=(",", ":")), part))
        kept = sum(record["frames"] for part, record in parts.items() if part != 0)
        said = self.finish("cut.mp4", SPEECH_S - kept).stderr
        self.assertIn("came from another device (cuda)", said)

    def test_a_segment_that_changes_before_it_is_joined_is_rendered_again(self):
        whole = self.whole()
        process = subprocess.Popen([PROGRAM, *self.list_command("cut.mp4")], cwd=self.folder, env=self.environment(),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        end = time.monotonic() + PATIENCE_S
        while len(self.segments()) < 2:
            self.assertLess(time.monotonic(), end, "the run did not get so far")
            self.assertIsNone(process.poll())
            time.sleep(0.002)
        process.send_signal(signal.SIGSTOP)
        first = self.segments()[0]
        content = bytearray(first.read_bytes())
        content[len(content) // 2] ^= 1
        first.write_bytes(content)
        process.send_signal(signal.SIGCONT)
        said = process.communicate(timeout=PATIENCE_S)[1]
        self.assertEqual(process.returncode, 0, said)
        self.assertIn(f"{first.name} has changed since it was made", said)
        self.assertEqual((self.folder / "cut.mp4").read_bytes(), whole)

    def test_a_disk_that_is_full_when_segments_are_joined_is_told_and_loses_none(self):
        whole = self.whole()
        limit = len(whole) * 3 // 4  # of each file: the segments and the state fit, the video does not
        full = self.navtalk(*self.list_command("cut.mp4"), restore_signals=False,  # Python ignores SIGXFSZ, and so do its children then
                            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        self.assertEqual(full.returncode, 1, full.stderr)
        self.assertIn("cut.mp4.partial cannot be written: File too large", full.stderr)
        self.assertFalse((self.folder / "cut.mp4").exists())
        self.assertEqual(len(self.segments()), SEGMENTS)
        self.finish("cut.mp4", 0)
        self.assertEqual((self.folder / "cut.mp4").read_bytes(), whole)

    def test_folders_of_jobs_that_are_over_or_unknown_are_swept(self):
        self.kill_at("cut.mp4", 1)
        shutil.copytree(self.segments()[0].parent, self.work / "0123456789abcdef0123456789abcdef")
        with sqlite3.connect(self.folder / "state/jobs.db") as db:
            db.execute("UPDATE jobs SET state = 6")
        db.close()
        self.assertEqual(self.job()["state"], "cancelled")
        (self.folder / "a.wav").unlink()
        record(self.folder / "a.wav", 2)  # another job
        ran = self.navtalk(*self.list_command("cut.mp4"))
        self.assert_ok(ran)
        self.assertFalse(self.work.exists())


if __name__ == "__main__":
    unittest.main()
