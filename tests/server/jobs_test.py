"""usage: jobs_test.py NAVTALK   a gateway renders jobs on its worker, beside users, and across kills"""

import contextlib
import hmac
import http.server
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import threading
import time
import unittest
import urllib.request

from patience import PATIENCE_S, eventually
from serve_process import PROGRAM, START, Process, receive
from speech_file import record
from worker_processes import new_folder, worker_processes

SPEECH_S = 45  # at one frame a second: five segments of ten seconds



class Endpoint(http.server.ThreadingHTTPServer):
    """Speech at /speech.wav, and a moderation that forbids one word and replaces another. /slow and slow texts wait for the gate."""

    def __init__(self, speech):
        self.speech = speech
        self.questions = []
        self.hooks = []
        self.waiting = 0
        self.gate = threading.Event()
        super().__init__(("127.0.0.1", 0), Answers)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"


class Answers(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def wait(self):
        self.server.waiting += 1
        self.server.gate.wait(PATIENCE_S)

    def answer(self, status, body, **headers):
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path == "/moved":
            self.answer(302, b"", Location="/speech.wav")
        elif self.path in ("/speech.wav", "/slow"):
            if self.path == "/slow":
                self.wait()
            self.answer(200, self.server.speech)
        elif self.path == "/v1/jobs/old":
            job = {"id": "old", "state": "running", "video_minutes": 1.5, "progress": 0.25, "error": None}
            self.answer(200, json.dumps(job).encode(), **{"Content-Type": "application/json"})
        elif self.path == "/v1/jobs/old/events":
            self.answer(200, b'id: 1\nevent: submit\ndata: {}\n\n', **{"Content-Type": "text/event-stream", "Content-Length": "1000"})
            self.wait()
        else:
            self.answer(404, b"none")

    def do_POST(self):
        if self.path == "/hook":
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self.server.hooks.append((dict(self.headers), body))
            return self.answer(500 if len(self.server.hooks) == 1 else 204, b"")
        question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.questions.append(question)
        if "slow" in question["text"]:
            self.wait()
        if "silence" in question["text"]:
            return self.answer(500, b"{}")
        verdict = {"allowed": "nasty" not in question["text"], "rule": "manners"}
        if "rude" in question["text"]:
            verdict["text"] = question["text"].replace("rude", "kind")
        self.answer(200, json.dumps(verdict).encode())


class Jobs(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(new_folder("navtalk-jobs-"))
        self.start()
        self.addCleanup(self.clean)

    def start(self, **more):
        self.gateway = Process("--listen", "127.0.0.1:0", "--drain-s", "1", folder=str(self.folder),
                               NAVTALK_POOL_FREE_RUNNING_GPU="1", NAVTALK_POOL_FAILED_HOLD_S="1", **more)

    def clean(self):
        self.gateway.end()
        for pid in worker_processes(self.gateway.folder):
            os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self.folder)

    def submit(self, job, **headers):
        status, body = self.gateway.ask("POST", "/v1/jobs", job, **headers)
        self.assertEqual(status, 202, body)
        return json.loads(body)

    def show(self, job):
        return json.loads(self.gateway.ask("GET", f"/v1/jobs/{job['id']}")[1])

    def over(self, job, state="done"):
        def ended():
            now = self.show(job)
            return now if now["state"] in ("done", "failed", "dead", "cancelled") else None

        found = eventually(ended, f"{job['id']} is over")
        self.assertEqual(found["state"], state, found)
        return found

    def video(self, job, **headers):
        request = urllib.request.Request(self.gateway.url + job["result"]["url"], headers=headers)
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            return answer.read()

    def long_job(self, **more):
        """By the command, since it uploads speech."""
        speech = self.folder / "speech.wav"
        if not speech.exists():
            record(speech, SPEECH_S)
        ran = self.navtalk("job", "submit", "--avatar", "ada", "--audio", str(speech), "--fps", "1", "--size", "64")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return json.loads(ran.stdout)

    def navtalk(self, *arguments):
        variables = {name: value for name, value in os.environ.items() if not name.startswith("NAVTALK_")}
        return subprocess.run([PROGRAM, "--json", *arguments, "--url", self.gateway.url], capture_output=True, text=True,
                              env=variables, check=False, timeout=PATIENCE_S)

    def frames(self, content):
        file = self.folder / "probe.mp4"
        file.write_bytes(content)
        ran = subprocess.run(["ffprobe", "-v", "error", "-count_frames", "-select_streams", "v:0", "-show_entries",
                              "stream=nb_read_frames", "-of", "csv=p=0", file], capture_output=True, text=True, check=True)
        return int(ran.stdout.strip().rstrip(","))

    def segments(self, job):
        folder = self.folder / "jobs" / job["id"] / "segments"
        return sorted(file.name for file in folder.glob("*.mp4")) if folder.exists() else []

    def test_a_text_becomes_a_video_that_is_fetched_whole_and_in_ranges(self):
        job = self.submit({"avatar": "ada", "text": "Hello.", "output": {"width": 64, "fps": 5}})
        self.assertTrue(job["estimated"])
        done = self.over(job)
        self.assertFalse(done["estimated"])
        self.assertEqual(done["progress"], 1)
        content = self.video(done)
        self.assertEqual(len(content), done["result"]["bytes"])
        self.assertEqual(self.frames(content), done["result"]["frames"])
        self.assertEqual(self.video(done, Range="bytes=4-99"), content[4:100])
        fetched = self.folder / "fetched.mp4"
        ran = self.navtalk("job", "fetch", job["id"], "--output", str(fetched))
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertEqual(fetched.read_bytes(), content)
        self.assertEqual(self.segments(job), [])

    def test_the_worker_draws_the_faces_of_a_job_and_its_video_has_the_bytes_of_infer(self):
        text = "Hello, my dear friends."
        job = self.submit({"avatar": "ada", "text": text, "output": {"width": 64, "fps": 5}})
        content = self.video(self.over(job))
        own = self.folder / "own.mp4"
        variables = {name: value for name, value in os.environ.items() if not name.startswith("NAVTALK_")}
        ran = subprocess.run([PROGRAM, "infer", "--avatar", "ada", "--text", text, "--size", "64", "--fps", "5", "--output", own],
                             capture_output=True, text=True, env=variables, check=False, timeout=PATIENCE_S)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertEqual(own.read_bytes(), content)
        if "avx512" in pathlib.Path("/proc/cpuinfo").read_text(encoding="ascii"):
            return  # there the nets may compute in bf16, and a job has its own
        commands = [pathlib.Path("/proc", pid, "cmdline").read_bytes().split(b"\0")
                    for worker in worker_processes(self.gateway.folder)
                    for pid in pathlib.Path(f"/proc/{worker}/task/{worker}/children").read_text(encoding="ascii").split()]
        self.assertTrue([command for command in commands if b"render" in command and b"--faces" in command], commands)
        self.assertNotIn("other model files", pathlib.Path(self.gateway.log.name).read_text(encoding="utf-8"))

    def test_what_cannot_be_rendered_fails_with_the_reason_and_stops_no_other(self):
        status, body = self.gateway.ask("POST", "/v1/jobs", {"avatar": "nobody", "text": "a"})
        self.assertEqual((status, json.loads(body)["error"]["code"]), (404, "not_found"))
        broken = self.folder / "broken.wav"
        broken.write_bytes(b"no sound")
        ran = self.navtalk("job", "submit", "--avatar", "ada", "--audio", str(broken), "--wait")
        self.assertEqual(ran.returncode, 3, ran.stderr)
        short = self.folder / "short.wav"
        record(short, 0.1)
        ran = self.navtalk("job", "submit", "--avatar", "ada", "--audio", str(short), "--fps", "5", "--wait")
        self.assertEqual(ran.returncode, 3, ran.stderr)
        self.assertIn("shorter than one frame", ran.stderr)
        status, body = self.gateway.ask("POST", "/v1/jobs", {"avatar": "ada", "text": "..."})
        self.assertEqual(status, 422, body)
        self.assertIn("nothing that can be spoken", body)
        self.over(self.submit({"avatar": "ada", "text": "Hi.", "output": {"width": 64, "fps": 5}}))

    def test_what_a_worker_lacks_fails_no_job(self):
        self.gateway.end()
        for pid in worker_processes(self.gateway.folder):
            os.kill(pid, signal.SIGKILL)
        bare = self.folder / "bin"  # without espeak-ng
        bare.mkdir()
        path = os.environ["PATH"]
        self.start(PATH=str(bare))
        jobs = [self.submit({"avatar": "ada", "text": f"Hello {i}."}) for i in range(5)]
        eventually(lambda: any("espeak-ng" in (self.show(job)["error"] or "") for job in jobs), "the worker tried one")
        shown = [self.show(job) for job in jobs]
        self.assertEqual([job["state"] for job in shown].count("failed"), 0, shown)
        self.assertLessEqual(sum(job["attempts"] for job in shown), 2, "the worker rests before it takes the next one")
        # A voice that nobody has is another matter: a gateway without espeak-ng accepts it, and a worker knows.
        nobodys = self.submit({"avatar": "ada", "text": "Hello.", "voice": "xx-none", "priority": 5})
        self.gateway.end()
        for pid in worker_processes(self.gateway.folder):
            os.kill(pid, signal.SIGKILL)
        self.start(PATH=path)
        self.assertIn("voice", self.over(nobodys, "failed")["error"])

    def test_the_same_key_is_the_same_job(self):
        asked = {"avatar": "ada", "text": "Hi.", "output": {"width": 64, "fps": 5}}
        first = self.submit(asked, **{"Idempotency-Key": "a"})
        self.assertEqual(self.submit(asked, **{"Idempotency-Key": "a"})["id"], first["id"])
        self.assertNotEqual(self.submit(asked)["id"], first["id"])
        other = {**asked, "text": "Another."}
        status, body = self.gateway.ask("POST", "/v1/jobs", other, **{"Idempotency-Key": "a"})
        self.assertEqual((status, json.loads(body)["error"]["code"]), (422, "idempotency_conflict"))
        # The gateway was killed before it promised.
        self.over(first)
        asked = {"avatar": "ada", "text": "One more word. " * 100, "output": {"width": 64, "fps": 5}}
        second = eventually(lambda: self.promised(asked, "b"), "the first job has taught how long one takes")
        with contextlib.closing(sqlite3.connect(self.folder / "pool.db", timeout=PATIENCE_S)) as store:
            store.execute("DELETE FROM job_promises WHERE job = (SELECT number FROM jobs WHERE id = ?)", (second["id"],))
            store.commit()
        self.assertIsNotNone(self.promised(asked, "b"))
        self.gateway.ask("DELETE", f"/v1/jobs/{second['id']}")

    def promised(self, asked, key):
        """The job, if its end is promised."""
        job = self.submit(asked, **{"Idempotency-Key": key})
        return job if job["promised_at"] else None

    def test_a_user_takes_the_gpu_from_a_job_which_goes_on_behind_its_last_segment(self):
        job = self.long_job()
        eventually(lambda: self.segments(job), "a segment came back")
        socket = self.gateway.connect()
        socket.send(START)
        receive(socket, "session.ready")
        self.assertIn(self.show(job)["state"], ("released", "done"))
        socket.close()
        done = self.over(job)
        self.assertEqual(done["result"]["frames"], SPEECH_S)
        self.assertEqual(self.frames(self.video(done)), SPEECH_S)

    def endpoint(self):
        speech = self.folder / "second.wav"
        record(speech, 1)
        server = Endpoint(speech.read_bytes())
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return server

    def refused(self, job):
        status, body = self.gateway.ask("POST", "/v1/jobs", job)
        return status, json.loads(body)["error"]["message"]

    def test_a_request_that_is_repeated_is_judged_and_fetched_once(self):
        server = self.endpoint()
        self.gateway.end()
        stale = self.folder / "jobs" / ("0" * 32)  # of a job that is forgotten
        (stale / "segments").mkdir(parents=True)
        os.utime(stale, (0, 0))
        self.start(NAVTALK_JOBS_MODERATION_URL=server.url, NAVTALK_JOBS_ALLOW_PRIVATE="true")
        eventually(lambda: not stale.exists(), "the folder of a forgotten job is removed")
        asked = {"avatar": "ada", "text": "A rude word.", "output": {"width": 64, "fps": 5}}
        first = self.submit(asked, **{"Idempotency-Key": "judged"})
        self.assertEqual(self.submit(asked, **{"Idempotency-Key": "judged"})["id"], first["id"])
        self.assertEqual(len(server.questions), 1, server.questions)
        spoken = {"avatar": "ada", "audio_url": server.url + "/speech.wav", "output": {"width": 64, "fps": 5}}
        second = self.submit(spoken, **{"Idempotency-Key": "fetched"})
        server.speech = b"another one"
        self.assertEqual(self.submit(spoken, **{"Idempotency-Key": "fetched"})["id"], second["id"])

    def test_speech_is_fetched_from_a_url_and_private_addresses_are_refused(self):
        server = self.endpoint()
        job = {"avatar": "ada", "audio_url": server.url + "/speech.wav", "output": {"width": 64, "fps": 5}}
        status, why = self.refused(job)
        self.assertEqual(status, 422, why)
        self.assertIn("not a public one", why)
        self.gateway.end()
        self.start(NAVTALK_JOBS_ALLOW_PRIVATE="true")
        for path, reason in (("/none", "404"), ("/moved", "302")):
            self.assertIn(reason, self.refused({**job, "audio_url": server.url + path})[1])
        done = self.over(self.submit(job))
        self.assertEqual(done["result"]["frames"], 5)
        slow = {**job, "audio_url": server.url + "/slow"}
        statuses = self.ask_at_once([slow] * 2)
        eventually(lambda: server.waiting == 2, "two are fetched")
        status, message = self.refused(slow)
        self.assertEqual((status, "audio_urls" in message), (429, True), message)
        self.submit({"avatar": "ada", "text": "Hi."})
        self.assertEqual(statuses, [])
        server.gate.set()
        eventually(lambda: statuses == [202, 202], "they are taken once they are there")
        self.submit(slow)

    def ask_at_once(self, jobs):
        """Submits them side by side; returns the list that their statuses come into."""
        statuses = []
        for job in jobs:
            threading.Thread(target=lambda job=job: statuses.append(self.gateway.ask("POST", "/v1/jobs", job)[0]), daemon=True).start()
        return statuses

    def test_texts_are_judged_and_replaced_before_they_are_accepted(self):
        server = self.endpoint()
        self.gateway.end()
        (self.folder / "blocked").write_text("# phrases\nfoul language\n", encoding="utf-8")
        self.start(NAVTALK_JOBS_MODERATION_URL=server.url + "/judge",
                   NAVTALK_JOBS_BLOCKED_WORDS_FILE=str(self.folder / "blocked"))
        job = {"avatar": "ada", "output": {"width": 64, "fps": 5}}
        self.assertIn("blocked_words", self.refused({**job, "text": "This is FOUL,  language."})[1])
        self.assertEqual(server.questions, [])
        self.assertIn("manners", self.refused({**job, "text": "Something nasty."})[1])
        self.assertEqual(self.refused({**job, "text": "No answer: silence."})[0], 503)
        kind = self.over(self.submit({**job, "text": "A rude word."}))
        plain = self.over(self.submit({**job, "text": "A kind word."}))
        self.assertEqual(self.video(kind), self.video(plain))
        # As many as there are threads that wait for other servers. Who needs none of them does not wait for them.
        statuses = self.ask_at_once([{**job, "text": f"A slow word, {i}."} for i in range(4)])
        eventually(lambda: server.waiting == 4, "they are judged")
        ran = self.navtalk("job", "submit", "--avatar", "ada", "--audio", str(self.folder / "second.wav"), "--fps", "5", "--size", "64")
        self.assertEqual((ran.returncode, statuses), (0, []), ran.stderr)
        server.gate.set()
        eventually(lambda: statuses == [202] * 4, "they are taken once they are judged")

    def test_the_end_of_a_job_is_posted_until_it_is_taken_also_by_the_next_gateway(self):
        server = self.endpoint()
        job = {"avatar": "ada", "text": "Hi.", "output": {"width": 64, "fps": 5}, "webhook": server.url + "/hook"}
        self.assertIn("webhook.secret_file", self.refused(job)[1])
        settings = {"NAVTALK_SIGNING_SECRET": "of this test", "NAVTALK_WEBHOOK_ALLOW_PRIVATE": "true"}
        self.gateway.end()
        self.start(**settings)
        done = self.over(self.submit(job))
        eventually(lambda: server.hooks, "the first try")
        self.gateway.end(signal.SIGKILL)
        self.start(**settings)
        eventually(lambda: len(server.hooks) > 1, "another try")
        (first, body), (second, same) = server.hooks[:2]
        self.assertEqual(body, same)
        told = json.loads(body)
        self.assertEqual((told["type"], told["job"]["id"], told["job"]["state"]), ("job.done", done["id"], "done"))
        self.assertEqual(first["Navtalk-Event-Id"], second["Navtalk-Event-Id"])
        with urllib.request.urlopen(self.gateway.url + "/v1/webhook-secret", timeout=PATIENCE_S) as answer:
            secret = json.load(answer)["secret"]
        seconds, signature = (part.split("=", 1)[1] for part in second["Navtalk-Signature"].split(","))
        signed = f"{seconds}.{told['id']}.".encode() + body
        self.assertEqual(signature, hmac.new(secret.encode(), signed, "sha256").hexdigest())

    def test_events_come_as_they_happen_and_end_with_the_job(self):
        job = self.submit({"avatar": "ada", "text": "Hello.", "output": {"width": 64, "fps": 5}})
        url = f"{self.gateway.url}/v1/jobs/{job['id']}/events"
        with urllib.request.urlopen(url, timeout=PATIENCE_S) as stream:
            self.assertEqual(stream.headers["Content-Type"], "text/event-stream")
            blocks = [dict(line.split(": ", 1) for line in block.splitlines() if ": " in line)
                      for block in stream.read().decode().strip().split("\n\n")]
        named = [block["event"] for block in blocks if "event" in block]
        self.assertEqual(named[0], "submit")
        self.assertEqual(named[-1], "finish")
        self.assertEqual(json.loads(blocks[-1]["data"])["state"], "done")
        numbers = [block["id"] for block in blocks if "id" in block]
        request = urllib.request.Request(url, headers={"Last-Event-ID": numbers[-2]})
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as stream:
            self.assertIn(f"id: {numbers[-1]}\n", stream.read().decode())
        request = urllib.request.Request(url, headers={"Last-Event-ID": numbers[-1]})
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as stream:
            self.assertEqual(stream.status, 204)

    def test_a_finish_time_is_promised_from_the_first_job_on(self):
        asked = {"avatar": "ada", "text": "Hello there, my dear friend.", "output": {"width": 64, "fps": 5}}
        job = self.submit(asked)
        self.assertIsNotNone(self.over(job)["first_promised_at"])
        for _ in range(10):  # a lane that counts on no slot yet promises later
            self.over(job)
            job = self.submit(asked)
            if job["eta_s"]:
                break
        self.assertGreater(job["eta_s"], 0)
        self.assert_told_when_a_folder_is_done()
        done = self.over(job)
        self.assertIsNone(done["eta_s"])
        self.assertEqual(done["first_promised_at"], job["promised_at"])
        self.assertLessEqual(done["changed_at"], done["promised_at"])
        ran = subprocess.run([PROGRAM, "job", "status", job["id"], "--url", self.gateway.url], capture_output=True, text=True, check=True)
        self.assertIn(f"Promised for {done['promised_at']}", ran.stdout)
        # The folder's job may still wait.
        eventually(lambda: 'navtalk_jobs{state="queued"} 0' in self.gateway.ask("GET", "/metrics")[1], "no job waits")
        metrics = self.gateway.ask("GET", "/metrics")[1]
        self.assertRegex(metrics, r'navtalk_gateway_jobs_ended_total\{end="done"\} [1-9]')
        self.assertRegex(metrics, r"navtalk_jobs_rate (?!0\b)")

    def assert_told_when_a_folder_is_done(self):
        texts = self.folder / "texts"
        texts.mkdir()
        for name, text in (("hello.txt", "Hello.\n"), ("empty.txt", ""), (".hidden.txt", "Hidden.")):
            (texts / name).write_text(text, encoding="utf-8")
        variables = {name: value for name, value in os.environ.items() if not name.startswith("NAVTALK_")}
        ran = subprocess.run([PROGRAM, "job", "submit", "--folder", str(texts), "--avatar", "ada", "--fps", "5", "--size", "64",
                              "--url", self.gateway.url], capture_output=True, text=True, env=variables, check=False, timeout=PATIENCE_S)
        self.assertEqual(ran.returncode, 3, ran.stderr)
        self.assertIn("empty.txt", ran.stderr)
        self.assertRegex(ran.stdout, r"\Ahello.txt: job \w+ is \w+, done by (\d{4}-\d\d-\d\d )?\d\d:\d\d\n\Z")

    def test_links_fetch_results_without_a_key_until_they_expire(self):
        done = self.over(self.submit({"avatar": "ada", "text": "Hi.", "output": {"width": 64, "fps": 5}}))
        link = done["result"]["link"]
        with urllib.request.urlopen(self.gateway.url + link, timeout=PATIENCE_S) as answer:
            self.assertEqual(len(answer.read()), done["result"]["bytes"])
        later = link.replace("expires=", "expires=9")
        status, body = self.gateway.ask("GET", later)
        self.assertEqual((status, json.loads(body)["error"]["code"]), (403, "forbidden"))

    def test_kills_of_the_worker_and_of_the_gateway_cost_no_finished_segment(self):
        job = self.long_job()
        eventually(lambda: self.segments(job), "a segment came back")
        for pid in worker_processes(self.gateway.folder):
            os.kill(pid, signal.SIGKILL)
        eventually(lambda: len(self.segments(job)) >= 3, "it goes on")
        self.gateway.end(signal.SIGKILL)
        self.start()
        done = self.over(job)
        self.assertEqual(done["result"]["frames"], SPEECH_S)
        reference = self.over(self.submit_again(job))
        self.assertEqual(self.video(done), self.video(reference))

    def test_a_finished_segment_whose_file_is_gone_is_rendered_again(self):
        job = self.long_job()
        eventually(lambda: len(self.segments(job)) >= 2, "two segments came back")
        for pid in worker_processes(self.gateway.folder):
            os.kill(pid, signal.SIGKILL)
        (self.folder / "jobs" / job["id"] / "segments" / "000000.mp4").unlink()
        done = self.over(job)
        self.assertEqual(done["attempts"], 1)
        self.assertEqual(self.frames(self.video(done)), SPEECH_S)

    def test_a_job_goes_on_while_the_store_is_away(self):
        job = self.long_job()
        eventually(lambda: self.segments(job), "a segment came back")
        store = sqlite3.connect(self.folder / "pool.db", timeout=PATIENCE_S, isolation_level=None)
        store.execute("BEGIN IMMEDIATE")  # nobody else writes
        time.sleep(12)
        store.rollback()
        self.over(job)
        claims = store.execute("SELECT COUNT(*) FROM job_events WHERE event = 2").fetchone()
        self.assertEqual(claims, (1,))
        store.close()

    def submit_again(self, job):
        """The same work without interruptions."""
        speech = self.folder / "speech.wav"
        ran = self.navtalk("job", "submit", "--avatar", "ada", "--audio", str(speech), "--fps", "1", "--size", "64",
                           "--priority", "1")
        again = json.loads(ran.stdout)
        self.assertNotEqual(again["id"], job["id"])
        return again

    def test_a_job_is_cancelled_while_it_runs(self):
        job = self.long_job()
        eventually(lambda: self.show(job)["state"] == "running", "it runs")
        ran = self.navtalk("job", "cancel", job["id"])
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertEqual(self.show(job)["state"], "cancelled")
        eventually(lambda: self.gateway.states() == ["idle"], "its slot is free")

    def test_a_list_is_submitted_and_waited_for(self):
        (self.folder / "list.csv").write_text("avatar,text,output,size,fps\nada,One.,one.mp4,64,5\nada,,two.mp4,64,5\nada,Three.,three.mkv,64,5\n")
        ran = self.navtalk("job", "submit", "--csv", str(self.folder / "list.csv"), "--wait", "--output", str(self.folder))
        self.assertEqual(ran.returncode, 3, ran.stderr)
        self.assertIn("row 3", ran.stderr)
        self.assertTrue((self.folder / "one.mp4").exists())
        self.assertTrue((self.folder / "three.mkv").exists())
        done = json.loads(self.gateway.ask("GET", "/v1/jobs?state=done&limit=1")[1])
        self.assertEqual(len(done["jobs"]), 1)
        rest = json.loads(self.gateway.ask("GET", f"/v1/jobs?state=done&cursor={done['next_cursor']}")[1])
        self.assertEqual(len(rest["jobs"]), 1)

    def submit_list(self, rows, *more):
        file = self.folder / "list.csv"
        file.write_text("avatar,text,output,size,fps\n" + rows)
        return self.navtalk("job", "submit", "--csv", str(file), "--wait", *more)

    def submitted(self):
        return json.loads(self.gateway.ask("GET", "/v1/jobs")[1])["jobs"]

    def test_the_folder_of_a_list_is_made_and_a_wrong_one_is_refused_before_anything_is_submitted(self):
        (self.folder / "file").write_text("")
        ran = self.submit_list("ada,One.,one.mp4,64,5\nada,Two.,in/two.mp4,64,5\n", "--output", str(self.folder / "file"))
        self.assertEqual(ran.returncode, 1, ran.stderr)
        self.assertIn("file cannot be made: ", ran.stderr)
        nowhere = self.folder / "nowhere" / "one.mp4"
        ran = self.submit_list("ada,One.,,64,5\n", "--output", str(nowhere))
        self.assertEqual(ran.returncode, 4, ran.stderr)
        self.assertIn("nowhere does not exist", ran.stderr)
        self.assertEqual(self.submitted(), [])
        ran = self.submit_list("ada,One.,one.mp4,64,5\nada,Two.,in/two.mp4,64,5\n", "--output", str(self.folder / "made"))
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertTrue((self.folder / "made" / "one.mp4").exists())
        self.assertTrue((self.folder / "made" / "in" / "two.mp4").exists())

    def test_the_second_row_with_an_output_is_refused_before_it_is_submitted(self):
        ran = self.submit_list("ada,One.,one.mp4,64,5\nada,Two.,./one.mp4,64,5\n", "--output", str(self.folder / "made"))
        self.assertEqual(ran.returncode, 3, ran.stderr)
        self.assertRegex(ran.stderr, r"row 3: .*one\.mp4 is the output of row 2 already")
        self.assertTrue((self.folder / "made" / "one.mp4").exists())
        self.assertEqual(len(self.submitted()), 1)

    def test_rows_of_equal_content_each_get_their_video_and_rows_without_a_name_their_own(self):
        made = self.folder / "made"
        ran = self.submit_list("ada,One.,one.mp4,64,5\nada,One.,two.mp4,64,5\nada,Three.,,64,5\nada,Four.,,64,5\n", "--output", str(made))
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertEqual(sorted(file.name for file in made.iterdir()), ["one.mp4", "row-4.mp4", "row-5.mp4", "two.mp4"])
        self.assertEqual((made / "one.mp4").read_bytes(), (made / "two.mp4").read_bytes())
        self.assertEqual(len(self.submitted()), 3)
        told = [json.loads(line) for line in ran.stdout.splitlines()]
        self.assertEqual(sorted(job["input"] for job in told), ["row 2", "row 3", "row 4", "row 5"])

    def test_an_output_that_exists_is_refused_before_it_is_submitted(self):
        there = self.folder / "made" / "one.mp4"
        there.parent.mkdir()
        there.write_bytes(b"old")
        row = "ada,One.,one.mp4,64,5\n"
        ran = self.submit_list(row, "--output", str(there.parent))
        self.assertNotEqual(ran.returncode, 0)
        self.assertIn("one.mp4 exists: choose another output, or --force", ran.stderr)
        self.assertEqual((self.submitted(), there.read_bytes()), ([], b"old"))
        ran = self.submit_list(row, "--output", str(there.parent), "--force")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertNotEqual(there.read_bytes(), b"old")

    def test_an_output_that_is_no_file_is_refused_before_it_is_submitted(self):
        folder = self.folder / "made"
        (folder / "one.mp4").mkdir(parents=True)
        (folder / "two.mp4").symlink_to(self.folder / "missing")
        row = "ada,One.,{},64,5\n"
        ran = self.submit_list(row.format("one.mp4"), "--output", str(folder), "--force")
        self.assertEqual(ran.returncode, 3, ran.stderr)
        self.assertIn("one.mp4 exists and is not a regular file: choose another output", ran.stderr)
        ran = self.submit_list(row.format("two.mp4"), "--output", str(folder))
        self.assertEqual(ran.returncode, 3, ran.stderr)
        self.assertIn("two.mp4 exists: choose another output, or --force", ran.stderr)
        self.assertEqual(self.submitted(), [])

    def test_the_status_of_a_job_has_its_promise_and_its_events(self):
        job = self.over(self.submit({"avatar": "ada", "text": "Hi.", "output": {"width": 64, "fps": 5}}))
        told = json.loads(self.navtalk("job", "status", job["id"]).stdout)
        self.assertIsNotNone(told["promised_at"])
        self.assertEqual([told["events"][0]["event"], told["events"][-1]["event"]], ["submit", "finish"])
        ran = subprocess.run([PROGRAM, "job", "status", job["id"], "--url", self.gateway.url], capture_output=True, text=True, check=True)
        self.assertIn(f"Promised for {told['promised_at']}", ran.stdout)
        self.assertRegex(ran.stdout, r"finish +done")
        status, body = self.gateway.ask("GET", f"/v1/jobs/{job['id']}/events", **{"Accept": "application/json, */*;q=0.1"})
        self.assertEqual((status, json.loads(body)["events"]), (200, told["events"]))

    def test_the_status_of_a_job_is_told_where_the_gateway_sends_its_events_as_a_stream_alone(self):
        server = self.endpoint()
        for form, told in (([], r"old +running +1.50 +25 %"), (["--json"], r'"events": ?null')):
            ran = subprocess.run([PROGRAM, *form, "job", "status", "old", "--url", server.url], capture_output=True, text=True,
                                 check=False, timeout=PATIENCE_S)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            self.assertRegex(ran.stdout, told)
            self.assertIn("older version", ran.stderr)

    def test_who_interrupts_a_wait_is_told_that_the_jobs_go_on_and_how_to_wait_for_them(self):
        speech = self.folder / "speech.wav"
        record(speech, SPEECH_S)
        variables = {name: value for name, value in os.environ.items() if not name.startswith("NAVTALK_")}
        waits = subprocess.Popen([PROGRAM, "job", "submit", "--avatar", "ada", "--audio", str(speech), "--fps", "1", "--size", "64",
                                  "--wait", "--output", str(self.folder / "speech.mp4"), "--url", self.gateway.url],
                                 stderr=subprocess.PIPE, text=True, env=variables)
        job = eventually(self.submitted, "it is submitted")[0]
        eventually(lambda: self.show(job)["state"] == "running", "it runs")
        waits.send_signal(signal.SIGINT)
        said = waits.communicate(timeout=PATIENCE_S)[1]
        self.assertEqual(waits.returncode, 130, said)
        self.assertIn(f"job {job['id']} goes on at the gateway: 'navtalk job wait {job['id']} --url {self.gateway.url}' waits for it", said)
        self.assertEqual(self.show(job)["state"], "running")


if __name__ == "__main__":
    unittest.main()
