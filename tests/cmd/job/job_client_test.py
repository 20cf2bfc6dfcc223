"""usage: job_client_test.py NAVTALK   what job submit, wait, list tell of a gateway that refuses and asks for time"""

import http.server
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from email.utils import formatdate

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
PATIENCE_S = 300


class Gateway(http.server.ThreadingHTTPServer):
    """Answers with what stands in `answers`, one after the other, then accepts and shows jobs in `states`, or done."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answers)
        self.answers, self.asked, self.states, self.failures = [], [], [], []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"

    def submissions(self):
        return [body for method, _, body, _ in self.asked if method == "POST"]


def refusal(status, code, message, **headers):
    return status, {"error": {"code": code, "message": message}}, headers


class Answers(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def answer(self, status, body, headers):
        content = json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def take(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.command == "GET" and self.server.failures:
            return self.answer(*self.server.failures.pop(0))
        self.server.asked.append((self.command, self.path, json.loads(body or b"null"), time.monotonic()))
        if self.server.answers:
            return self.answer(*self.server.answers.pop(0))
        if "missing" in self.path:
            return self.answer(*refusal(404, "not_found", "there is no such job"))
        name = self.path.removeprefix("/v1/jobs").strip("/") or f"job{len(self.server.asked)}"
        state = self.server.states.pop(0) if self.server.states else "done"
        return self.answer(200, {"id": name, "state": state, "video_minutes": 1, "progress": 1, "error": None,
                                 "result": {"url": "/video", "bytes": 0}}, {})

    do_GET = do_POST = do_DELETE = take


class Client(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="navtalk-client-")
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)
        self.gateway = Gateway()
        self.addCleanup(self.gateway.server_close)
        self.addCleanup(self.gateway.shutdown)

    def navtalk(self, *arguments):
        kept = {name: value for name, value in os.environ.items() if not name.startswith("NAVTALK_")}
        return subprocess.run([PROGRAM, "job", *arguments, "--url", self.gateway.url], capture_output=True, text=True,
                              cwd=self.folder, env={**kept, "NAVTALK_LOG_FORMAT": "text"}, check=False, timeout=PATIENCE_S)

    def submit(self, *arguments):
        return self.navtalk("submit", "--avatar", "ada", "--text", "Hello.", *arguments)

    def test_a_row_over_quota_is_tried_once_and_the_others_are_submitted(self):
        (self.folder / "list.csv").write_text("avatar,text\n" + "".join(f"ada,Hello {i}.\n" for i in range(6)))
        full = refusal(429, "quota", "the queue of this tenant is full")
        self.gateway.answers = [full, full, full, full]
        ran = self.navtalk("submit", "--csv", "list.csv")
        self.assertEqual(ran.returncode, 5, ran.stderr)
        self.assertEqual([job["text"] for job in self.gateway.submissions()], [f"Hello {i}." for i in range(6)])
        self.assertIn("row 2: the queue of this tenant is full", ran.stderr)
        self.assertIn("4 of 6 inputs failed: row 2, row 3, row 4, row 5", ran.stderr)

    def test_a_refusal_is_tried_again_no_earlier_than_the_gateway_asks(self):
        later = {"Retry-After": "3"}
        busy = [refusal(429, "tenant_limit", "busy", **later), refusal(503, "unavailable", "busy", **later)]
        self.gateway.answers = [*busy, refusal(408, "too_slow", "stalled")]
        ran = self.submit()
        self.assertEqual(ran.returncode, 0, ran.stderr)
        times = [at for *_, at in self.gateway.asked]
        self.assertEqual(len(times), 4)
        self.assertGreaterEqual(times[1] - times[0], 2.9)
        self.assertGreaterEqual(times[2] - times[1], 2.9)

    def test_a_gateway_that_asks_for_an_hour_is_not_waited_for(self):
        self.gateway.answers = [refusal(503, "unavailable", "closed for an hour", **{"Retry-After": "3600"})]
        ran = self.submit()
        self.assertEqual((ran.returncode, len(self.gateway.asked)), (1, 1), ran.stderr)
        self.assertIn("closed for an hour", ran.stderr)

    def test_a_date_until_which_the_gateway_is_busy_is_waited_for(self):
        self.gateway.answers = [refusal(503, "unavailable", "closed for an hour", **{"Retry-After": formatdate(time.time() + 3600, usegmt=True)})]
        ran = self.submit()
        self.assertEqual((ran.returncode, len(self.gateway.asked)), (1, 1), ran.stderr)
        at = time.time()
        self.gateway.answers = [refusal(503, "unavailable", "busy", **{"Retry-After": formatdate(at + 4, usegmt=True)})]
        ran = self.submit()
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertEqual(len(self.gateway.submissions()), 3)
        self.assertGreaterEqual(time.time(), int(at) + 4)

    def formats(self):
        return [job["output"]["format"] for job in self.gateway.submissions()]

    def test_the_name_of_the_output_decides_the_format(self):
        for name in ("a.webm", "b.MKV", "c.mp4"):
            self.submit("--wait", "--output", name)
        self.submit("--wait", "--output", "d.gif", "--format", "gif")
        self.submit()
        self.submit("--format", "mov")
        self.submit("--wait", "--format", "webp", "--output", "folder/")
        self.assertEqual(self.formats(), ["webm", "mkv", "mp4", "gif", "mp4", "mov", "webp"])

    def test_a_name_of_another_format_or_none_is_refused_before_anything_is_submitted(self):
        (self.folder / "list.csv").write_text("avatar,text,output\nada,Hello.,row.mp4\n")
        for arguments, told in (
            (("--output", "a.avi"), "a.avi names no format of videos: end it with .mp4, .mov, .mkv, .webm, .gif, .webp, or / for a folder"),
            (("--output", "a"), "a names no format of videos"),
            (("--output", "a.webm", "--format", "mp4"), "a.webm would hold a video of the format mp4: end it with .mp4"),
        ):
            ran = self.submit("--wait", *arguments)
            self.assertEqual(ran.returncode, 2, ran.stderr)
            self.assertIn(f"the text: {told}", ran.stderr)
        ran = self.navtalk("submit", "--csv", "list.csv", "--wait", "--output", "a.webm")
        self.assertEqual(ran.returncode, 2, ran.stderr)
        self.assertIn("row 2: a.webm would hold a video of the format mp4", ran.stderr)
        self.assertEqual(self.gateway.asked, [])

    def test_who_names_no_avatar_is_told_which_option_names_it(self):
        ran = self.navtalk("submit", "--text", "Hello.")
        self.assertEqual(ran.returncode, 2, ran.stderr)
        self.assertIn("error: name the avatar: --avatar ID", ran.stderr)
        (self.folder / "list.csv").write_text("text\nHello.\n")
        self.assertIn("row 2: has no avatar", self.navtalk("submit", "--csv", "list.csv").stderr)

    def test_a_job_that_does_not_exist_is_named_and_the_others_are_waited_for(self):
        ran = self.navtalk("wait", "one", "missing", "two")
        self.assertEqual(ran.returncode, 4, ran.stderr)
        self.assertIn("error: job missing: there is no such job", ran.stderr)
        self.assertIn("error: 1 of 3 jobs do not exist: missing", ran.stderr)
        self.assertEqual(ran.stdout, "waited: job one is done\nwaited: job two is done\n")
        ran = self.navtalk("wait", "missing")
        self.assertEqual(ran.returncode, 4, ran.stderr)
        self.assertIn("error: job missing: there is no such job", ran.stderr)

    def test_a_job_is_waited_for_while_the_gateway_has_no_store(self):
        away = refusal(503, "store_unavailable", "the pool's store cannot be reached; try again later")
        self.gateway.answers = [(200, {"id": "one", "state": "running", "video_minutes": 1, "progress": 0, "error": None}, {}), *[away] * 7]
        ran = self.navtalk("wait", "one")
        self.assertEqual((ran.returncode, len(self.gateway.asked)), (0, 9), ran.stderr)

    def test_who_waits_is_told_which_jobs_go_on_when_the_gateway_fails(self):
        broken = refusal(500, "failed", "internal error; the log says more")
        (self.folder / "list.csv").write_text("avatar,text\nada,One.\nada,Two.\n")
        self.gateway.states = ["queued", "queued"]
        self.gateway.failures = [broken]
        ran = self.navtalk("submit", "--csv", "list.csv", "--wait")
        self.assertEqual(ran.returncode, 1, ran.stderr)
        self.assertIn("internal error; the log says more: 2 jobs go on at the gateway: 'navtalk job wait job1 job2 --url", ran.stderr)

    def test_what_is_no_file_of_a_folder_has_failed_and_the_others_are_submitted(self):
        folder = self.folder / "texts"
        (folder / "subfolder").mkdir(parents=True)
        for name in ("a.txt", ".hidden.txt"):
            (folder / name).write_text("Hello.")
        (folder / "b.txt").symlink_to("missing.txt")
        (folder / "c.txt").symlink_to("a.txt")
        (folder / "d.txt").symlink_to("subfolder")
        os.mkfifo(folder / "e.wav")
        ran = self.navtalk("submit", "--avatar", "ada", "--folder", "texts")
        self.assertEqual(len(self.gateway.submissions()), 2, ran.stderr)
        self.assertIn("b.txt: is a link to a file that does not exist", ran.stderr)
        self.assertIn("e.wav: is not a regular file", ran.stderr)
        self.assertIn("2 of 4 inputs failed: b.txt, e.wav", ran.stderr)
        self.assertNotEqual(ran.returncode, 0)

    def test_a_video_is_fetched_into_a_file_and_not_to_standard_output(self):
        ran = self.navtalk("fetch", "one", "--output", "-")
        self.assertEqual((ran.returncode, self.gateway.asked), (2, []), ran.stderr)
        self.assertIn("name it with --output FILE", ran.stderr)

    def test_a_name_with_control_characters_is_told_in_a_readable_way(self):
        ran = self.submit("--wait", "--output", "new\nline.mp4")
        self.assertIn("is done, its video is", ran.stdout, ran.stderr)
        self.assertNotIn("new\nline", ran.stdout)

    def test_all_jobs_that_exist_are_cancelled_and_the_others_are_named(self):
        self.gateway.answers = [(200, {"id": "one", "state": "cancelled"}, {}),
                                refusal(404, "not_found", "there is no such job"),
                                (200, {"id": "two", "state": "cancelled"}, {}),
                                refusal(404, "not_found", "there is no such job")]
        ran = self.navtalk("cancel", "one", "lost", "two", "gone")
        self.assertEqual(ran.returncode, 4, ran.stderr)
        self.assertEqual(ran.stdout, "asked to cancel: job one is cancelled\nasked to cancel: job two is cancelled\n")
        self.assertIn("error: job lost: there is no such job", ran.stderr)
        self.assertIn("error: 2 of 4 jobs do not exist: lost, gone", ran.stderr)
        self.assertEqual([(method, path) for method, path, *_ in self.gateway.asked],
                         [("DELETE", f"/v1/jobs/{name}") for name in ("one", "lost", "two", "gone")])

    def test_a_list_longer_than_a_gateway_gives_is_refused_with_the_limit(self):
        ran = self.navtalk("list", "--limit", "1001")
        self.assertEqual((ran.returncode, self.gateway.asked), (2, []), ran.stderr)
        self.assertIn("--limit is at most 1000 with --url", ran.stderr)


if __name__ == "__main__":
    unittest.main()
