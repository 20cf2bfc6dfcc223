"""usage: job_input_test.py NAVTALK   a gateway judges the speech of jobs before it accepts them, in a process that can do nothing else"""

import http.server
import json
import os
import pathlib
import shutil
import signal
import subprocess
import threading
import unittest
import urllib.error
import urllib.request

import serve_process
from patience import PATIENCE_S, eventually
from serve_process import PROGRAM, Process
from speech_file import record
from worker_processes import new_folder, worker_processes

LONGEST_S = 3600


def encoded(file, seconds, *options):
    """Silence in the format of the file's name."""
    subprocess.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "anullsrc=r=48000:cl=mono", "-t", str(seconds), *options, file], check=True)
    return file.read_bytes()


class Inputs(unittest.TestCase):
    """With a copy of the program of its own, from which a test may take the part that decodes."""

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(new_folder("navtalk-inputs-"))
        program = pathlib.Path(PROGRAM).resolve()
        for name in ("bin", "lib/navtalk", "speech", "state"):
            (cls.folder / name).mkdir(parents=True)
        shutil.copy2(program, cls.folder / "bin/navtalk")
        for module in (program.parent.parent / "lib/navtalk").glob("*.so*"):
            (cls.folder / "lib/navtalk" / module.name).symlink_to(module)
        demo = next(above / "assets" for above in program.parents if (above / "assets/demo").is_dir())
        serve_process.PROGRAM = str(cls.folder / "bin/navtalk")
        # No worker: what is accepted waits.
        cls.gateway = Process("--listen", "127.0.0.1:0", "--drain-s", "1", folder=str(cls.folder / "state"), NAVTALK_DATA_DIR=str(demo),
                              NAVTALK_JOBS_ALLOW_PRIVATE="true", NAVTALK_LOCAL_DEVICES="none")

    @classmethod
    def tearDownClass(cls):
        cls.gateway.end()
        for pid in worker_processes(cls.gateway.folder):
            os.kill(pid, signal.SIGKILL)
        shutil.rmtree(cls.folder)

    def submit(self, speech, job=None, **headers):
        """Status, answer and headers of a job with that speech."""
        parts = (b"--xx\r\nContent-Disposition: form-data; name=\"job\"\r\n\r\n" + json.dumps({"avatar": "ada", **(job or {})}).encode()
                 + b"\r\n--xx\r\nContent-Disposition: form-data; name=\"audio\"; filename=\"speech\"\r\n\r\n" + speech + b"\r\n--xx--\r\n")
        request = urllib.request.Request(self.gateway.url + "/v1/jobs", data=parts, method="POST",
                                         headers={"Content-Type": "multipart/form-data; boundary=xx", **headers})
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
                return answer.status, json.loads(answer.read()), dict(answer.headers)
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read()), dict(error.headers)

    def accepted(self, speech, job=None, **headers):
        status, answer, _ = self.submit(speech, job, **headers)
        self.assertEqual(status, 202, answer)
        return answer

    def refused(self, speech, rule):
        before = self.jobs()
        status, answer, _ = self.submit(speech)
        self.assertEqual((status, answer["error"]["code"]), (422, "invalid"), answer)
        self.assertIn(f"by the rule {rule}:", answer["error"]["message"])
        self.assertNotIn("/proc/", answer["error"]["message"])
        self.assertEqual(self.jobs(), before)
        self.assertEqual([file for file in (self.folder / "state/jobs/uploads").glob("*") if file.read_bytes() == speech], [])

    def jobs(self):
        return len(json.loads(self.gateway.ask("GET", "/v1/jobs?limit=1000")[1])["jobs"])

    def test_what_is_not_speech_is_refused_for_its_codec(self):
        self.refused(b"no sound, whatever its name says", "codec")
        self.refused(b"#EXTM3U\n#EXTINF:10,\nhttp://127.0.0.1:1/private.mp3\n", "codec")
        picture = subprocess.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "color=s=64x64", "-frames:v", "1", "-f", "image2pipe",
                                  "-c:v", "png", "-"], check=True, capture_output=True).stdout
        self.refused(picture, "codec")

    def test_a_small_file_of_hours_is_refused_for_its_duration(self):
        for name, options in (("bomb.flac", ()), ("bomb.opus", ("-b:a", "6k")), ("bomb.mp3", ("-b:a", "8k", "-ar", "8000"))):
            with self.subTest(name):
                bomb = encoded(self.folder / "speech" / name, LONGEST_S + 60, *options)
                self.assertLess(len(bomb), 8 << 20)
                self.refused(bomb, "duration")

    def test_a_long_wav_is_refused_without_a_process(self):
        file = self.folder / "speech/long.wav"
        subprocess.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "anullsrc=r=8000:cl=mono", "-t", str(LONGEST_S + 1), "-fflags", "+bitexact",
                        "-c:a", "pcm_u8", file], check=True)
        self.refused(file.read_bytes(), "duration")

    def test_the_length_of_accepted_speech_is_measured_and_not_guessed(self):
        for name, options in (("short.opus", ("-b:a", "64k")), ("short.m4a", ()), ("short.wav", ()), ("padded.wav", ("-metadata", "title=x"))):
            with self.subTest(name):
                job = self.accepted(encoded(self.folder / "speech" / name, 6, *options))
                self.assertFalse(job["estimated"])
                self.assertAlmostEqual(job["video_minutes"], 0.1, delta=0.002)
        job = self.accepted(encoded(self.folder / "speech/part.opus", 6), {"start": 1, "duration": 3})
        self.assertAlmostEqual(job["video_minutes"], 0.05, delta=0.001)

    def test_fetched_speech_is_judged_as_sent_speech_is(self):
        folder = self.folder / "speech"
        (folder / "text.mp3").write_bytes(b"no sound at all")
        encoded(folder / "fetched.opus", 6)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), lambda *given: Quiet(*given, directory=str(folder)))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        job = {"avatar": "ada", "audio_url": f"http://127.0.0.1:{server.server_port}/text.mp3"}
        status, body = self.gateway.ask("POST", "/v1/jobs", job)
        self.assertEqual(status, 422, body)
        self.assertIn("by the rule codec:", body)
        status, body = self.gateway.ask("POST", "/v1/jobs", {**job, "audio_url": job["audio_url"].replace("text.mp3", "fetched.opus")})
        self.assertEqual((status, json.loads(body)["estimated"]), (202, False), body)

    def test_a_machine_that_cannot_probe_says_try_again_and_still_knows_what_it_accepted(self):
        speech = encoded(self.folder / "speech/known.opus", 2)
        known = self.accepted(speech, **{"Idempotency-Key": "known"})
        module = self.folder / "lib/navtalk/navtalk-media.so"
        aside = module.rename(self.folder / "aside.so")
        self.addCleanup(lambda: aside.rename(module) if aside.is_symlink() else None)
        status, answer, headers = self.submit(speech)
        self.assertEqual((status, answer["error"]["code"], headers.get("Retry-After")), (503, "unavailable", "5"), answer)
        again = self.accepted(speech, **{"Idempotency-Key": "known"})
        self.assertEqual(again["id"], known["id"])
        # Its length stands in its header, and needs no process.
        record(self.folder / "speech/plain.wav", 3)
        plain = self.accepted((self.folder / "speech/plain.wav").read_bytes())
        self.assertAlmostEqual(plain["video_minutes"], 0.05, delta=0.001)
        aside.rename(module)
        self.accepted(speech)

    def text_refused(self, job, rule):
        before = self.jobs()
        status, body = self.gateway.ask("POST", "/v1/jobs", {"avatar": "ada", **job})
        self.assertEqual((status, json.loads(body)["error"]["code"]), (422, "invalid"), body)
        self.assertIn(f"by the rule {rule}:", body)
        self.assertEqual(self.jobs(), before)
        return body

    def text_accepted(self, job):
        status, body = self.gateway.ask("POST", "/v1/jobs", {"avatar": "ada", **job})
        self.assertEqual(status, 202, body)
        return json.loads(body)

    def test_a_voice_that_nobody_has_is_refused(self):
        for voice in ("xx-none", "en-us+nobody"):
            self.assertIn(voice.split("+")[-1], self.text_refused({"text": "Hello.", "voice": voice}, "voice"))
        for voice in ("en-us+f3", "en-us+f3", "de"):
            self.assertTrue(self.text_accepted({"text": "Hello.", "voice": voice})["estimated"])

    def test_a_text_that_holds_nothing_to_speak_is_refused(self):
        for text in ("...", "-", "\u2014", "<break/>", " \u200b ", "?"):
            with self.subTest(text):
                self.assertIn("nothing that can be spoken", self.text_refused({"text": text}, "silence"))
        self.text_refused({"text": "<speak><break time='2s'/></speak>", "ssml": True}, "silence")
        for text in ("+", "\u2026 yes", "7"):
            with self.subTest(text):
                self.text_accepted({"text": text})

    def test_speech_of_which_no_frame_is_left_is_refused(self):
        record(self.folder / "speech/late.wav", 3)
        status, answer, _ = self.submit((self.folder / "speech/late.wav").read_bytes(), {"start": 2.9999})
        self.assertEqual(status, 400, answer)
        self.assertIn("shorter than one frame", answer["error"]["message"])

    def test_a_text_that_is_spoken_for_too_long_is_refused_and_a_long_one_is_measured(self):
        sentence = "We walk along the river and talk about the long and quiet day. "  # four seconds
        self.assertIn("media.max_duration_s", self.text_refused({"text": sentence * 1500}, "duration"))
        long = self.text_accepted({"text": sentence * 40})
        self.assertFalse(long["estimated"])
        self.assertGreater(long["video_minutes"], 1)
        self.assertLess(long["video_minutes"], 5)
        marked = self.text_accepted({"text": "<speak>Hello.<break time='9s'/>Bye.</speak>", "ssml": True})
        self.assertFalse(marked["estimated"])
        self.assertGreater(marked["video_minutes"], 0.15)

    def test_a_recording_that_is_cut_is_refused_and_one_of_a_stream_is_not(self):
        record(self.folder / "speech/cut.wav", 3)
        whole = (self.folder / "speech/cut.wav").read_bytes()
        self.refused(whole[:len(whole) // 2], "length")
        at = whole.index(b"data") + 4
        streamed = self.accepted(whole[:at] + b"\xff" * 4 + whole[at + 4:len(whole) // 2])
        self.assertAlmostEqual(streamed["video_minutes"], 0.025, delta=0.002)

    def test_the_command_tells_people_what_a_file_holds(self):
        encoded(self.folder / "speech/told.opus", 2)
        ran = subprocess.run([PROGRAM, "job", "probe", self.folder / "speech/told.opus"], capture_output=True, text=True, check=False)
        self.assertEqual((ran.returncode, ran.stdout), (0, "opus, 48000 Hz, 1 channel, 2.00 s\n"), ran.stderr)
        (self.folder / "speech/told.txt").write_text("Hello there, my dear friend.")
        ran = subprocess.run([PROGRAM, "job", "probe", "--text", self.folder / "speech/told.txt"], capture_output=True, text=True, check=False)
        self.assertRegex(ran.stdout, r"^[12]\.\d\d s\n$", ran.stderr)
        ran = subprocess.run([PROGRAM, "job", "probe", __file__], capture_output=True, text=True, check=False)
        self.assertEqual(ran.returncode, 1, ran.stderr)
        self.assertIn("refused by the rule codec: the speech cannot be read as audio", ran.stdout)


def faked_espeak(folder, script):
    """An environment whose espeak-ng is that script of the shell's. Also nobody may run it, whom a probe of root's becomes."""
    folder.chmod(0o755)
    program = folder / "espeak-ng"
    program.write_text("#!/bin/sh\n" + script, encoding="utf-8")
    program.chmod(0o755)
    return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}


def runs(pid):
    """Not where it waits to be reaped."""
    try:
        return "\nState:\tZ" not in pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except FileNotFoundError:
        return False


class Spoken(unittest.TestCase):
    """By an espeak-ng that is a script."""

    def setUp(self):
        self.folder = pathlib.Path(new_folder("navtalk-spoken-"))
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "text").write_text("Hello.", encoding="utf-8")
        self.command = [PROGRAM, "--json", "job", "probe", "--text", self.folder / "text"]

    def test_espeak_ends_with_the_probe_that_started_it(self):
        environment = faked_espeak(self.folder, "while printf x >&3; do sleep 0.05; done")
        with subprocess.Popen(self.command, env=environment, stdout=subprocess.DEVNULL) as probe:
            children = pathlib.Path(f"/proc/{probe.pid}/task/{probe.pid}/children")
            espeak = eventually(lambda: children.read_text(encoding="ascii").split(), "the probe has started espeak-ng")[0]
            eventually(lambda: b"espeak-ng" in pathlib.Path(f"/proc/{espeak}/cmdline").read_bytes(), "it runs")
            self.addCleanup(lambda: runs(espeak) and os.kill(int(espeak), signal.SIGKILL))
            probe.kill()
        eventually(lambda: not runs(espeak), "it has ended")

    def test_a_text_at_which_espeak_fails_is_left_to_the_worker(self):
        for script, status in (("kill -SEGV $$", 139), ("exit 3", 3)):
            with self.subTest(script):
                environment = faked_espeak(self.folder, script)
                ran = subprocess.run(self.command, env=environment, capture_output=True, text=True, check=False)
                self.assertEqual(ran.returncode, 0, ran.stderr)
                self.assertEqual([json.loads(line) for line in ran.stdout.splitlines()],
                                 [{"confined": True}, {"unspoken": f"espeak-ng ended with status {status}"}])
                told = subprocess.run([PROGRAM, *self.command[2:]], env=environment, capture_output=True, text=True, check=False)
                self.assertEqual((told.returncode, told.stdout), (1, ""))
                self.assertIn(f"espeak-ng ended with status {status}", told.stderr)


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Renderers(unittest.TestCase):
    def test_a_renderer_has_a_filter_of_its_system_calls(self):
        folder = pathlib.Path(new_folder("navtalk-renderer-"))
        serve_process.PROGRAM = PROGRAM
        gateway = Process("--listen", "127.0.0.1:0", "--drain-s", "1", folder=str(folder))

        def clean():
            gateway.end()
            for pid in worker_processes(gateway.folder):
                os.kill(pid, signal.SIGKILL)
            shutil.rmtree(folder)

        self.addCleanup(clean)
        status, body = gateway.ask("POST", "/v1/jobs", {"avatar": "ada", "text": "Hello.", "output": {"width": 64, "fps": 5}})
        self.assertEqual(status, 202, body)
        found = eventually(lambda: self.confinement(gateway), "a renderer has started")
        self.assertEqual(found, {"NoNewPrivs": "1", "Seccomp": "2"})
        path = f"/v1/jobs/{json.loads(body)['id']}"
        done = eventually(lambda: self.over(gateway, path), "the job is over")
        self.assertEqual(done["state"], "done", done)

    @staticmethod
    def over(gateway, path):
        job = json.loads(gateway.ask("GET", path)[1])
        return job if job["state"] in ("done", "failed", "dead") else None

    @staticmethod
    def confinement(gateway):
        """Of a renderer that has begun its job."""
        for worker in worker_processes(gateway.folder):
            children = pathlib.Path(f"/proc/{worker}/task/{worker}/children").read_text(encoding="ascii").split()
            for child in children:
                try:
                    command = pathlib.Path("/proc", child, "cmdline").read_bytes()
                    lines = pathlib.Path("/proc", child, "status").read_text(encoding="utf-8").splitlines()
                except OSError:  # it has ended
                    continue
                if b"render" not in command.split(b"\0"):
                    continue
                status = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
                if status["Seccomp"] != "0":
                    return {name: status[name] for name in ("NoNewPrivs", "Seccomp")}
        return None


if __name__ == "__main__":
    unittest.main()
