"""usage: job_webhooks_test.py NAVTALK   a gateway tells the ends of jobs, and forgets old jobs"""

import http.server
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import threading
import unittest

from patience import PATIENCE_S, eventually
from serve_process import PROGRAM, Process
from worker_processes import new_folder, worker_processes

SECRET = {"NAVTALK_SIGNING_SECRET": "of this test", "NAVTALK_WEBHOOK_ALLOW_PRIVATE": "true"}
MONTH_US = 31 * 24 * 3600 * 1_000_000


class Endpoint(http.server.ThreadingHTTPServer):
    """Keeps the messages that it gets. While `holds` is set, it answers nothing."""

    daemon_threads = True

    def __init__(self, holds=False):
        self.messages = []
        self.may_answer = threading.Event()
        if not holds:
            self.may_answer.set()
        super().__init__(("127.0.0.1", 0), Answers)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def hook(self):
        return f"http://127.0.0.1:{self.server_port}/hook"

    def of_job(self, job):
        return [message for message in self.messages if message["job"]["id"] == job["id"]]


class Answers(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        self.server.messages.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.server.may_answer.wait()
        self.send_response(204)
        self.end_headers()


class JobWebhooks(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(new_folder("navtalk-webhooks-"))
        self.gateway = Process("--listen", "127.0.0.1:0", "--drain-s", "1", folder=str(self.folder), **SECRET)
        self.addCleanup(self.clean)

    def clean(self):
        self.gateway.end(signal.SIGKILL)
        for pid in worker_processes(self.gateway.folder):
            os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self.folder)

    def endpoint(self, **options):
        server = Endpoint(**options)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.addCleanup(server.may_answer.set)
        return server

    def submit(self, text="Hi.", **more):
        job = {"avatar": "ada", "text": text, "output": {"width": 64, "fps": 5}, **more}
        status, body = self.gateway.ask("POST", "/v1/jobs", job)
        self.assertEqual(status, 202, body)
        return json.loads(body)

    def state(self, job):
        status, body = self.gateway.ask("GET", f"/v1/jobs/{job['id']}")
        return json.loads(body)["state"] if status == 200 else status

    def test_an_endpoint_that_answers_nothing_delays_no_other(self):
        hangs, answers = self.endpoint(holds=True), self.endpoint()
        for _ in range(40):
            job = self.submit(webhook=hangs.hook())
            self.gateway.ask("DELETE", f"/v1/jobs/{job['id']}")
        eventually(lambda: hangs.messages, "the first message hangs")
        job = self.submit(webhook=answers.hook())
        self.gateway.ask("DELETE", f"/v1/jobs/{job['id']}")
        eventually(lambda: answers.of_job(job), "the other endpoint is told")
        self.assertEqual(len(hangs.messages), 1)

    def test_the_command_names_a_webhook_and_a_failure_is_told_with_its_reason(self):
        server = self.endpoint()
        variables = {name: value for name, value in os.environ.items() if not name.startswith("NAVTALK_")}
        command = [PROGRAM, "--json", "job", "submit", "--url", self.gateway.url, "--avatar", "ada", "--text", "Hi.", "--voice",
                   "mb-nobody", "--webhook"]
        ran = subprocess.run([*command, "ftp://127.0.0.1/"], capture_output=True, text=True, env=variables, check=False,
                             timeout=PATIENCE_S)
        self.assertNotEqual(ran.returncode, 0)
        self.assertIn("webhook: ", ran.stderr)
        ran = subprocess.run([*command, server.hook()], capture_output=True, text=True, env=variables, check=False,
                             timeout=PATIENCE_S)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        (told,) = eventually(lambda: server.of_job(json.loads(ran.stdout)), "the failure is told")
        self.assertEqual((told["type"], told["job"]["state"]), ("job.failed", "failed"))
        self.assertIn("mb-nobody", told["job"]["error"])

    def test_a_job_that_is_over_for_long_is_forgotten_with_its_files(self):
        old, new = self.submit("One."), self.submit("Two.")
        for job in (old, new):
            eventually(lambda job=job: self.state(job) == "done", "it is done")
        kept = self.folder / "jobs" / new["id"]
        self.assertTrue((self.folder / "jobs" / old["id"]).exists())
        store = sqlite3.connect(self.folder / "pool.db", timeout=PATIENCE_S, isolation_level=None)
        store.execute("UPDATE jobs SET changed_at = changed_at - ? WHERE id = ?", (MONTH_US, old["id"]))
        eventually(lambda: self.state(old) == 404, "the old job is forgotten")
        self.assertFalse((self.folder / "jobs" / old["id"]).exists())
        self.assertEqual(self.state(new), "done")
        self.assertTrue(any(kept.glob("video.*")))
        numbers = store.execute("SELECT DISTINCT job FROM job_events ORDER BY job").fetchall()
        self.assertEqual(numbers, store.execute("SELECT number FROM jobs").fetchall())
        store.close()


if __name__ == "__main__":
    unittest.main()
