"""A gateway that renders jobs on its local worker, with the library of kill_steps.py in all processes, and a submitter."""

import hashlib
import http.client
import http.server
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
import uuid
import wave

from gateway import Gateway, environment_of
from kill_steps import KillSteps
from stores import Sqlite

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "server"))
from worker_processes import worker_processes

PATIENCE_S = 240
SPEECH_S = 33  # at one frame a second: three segments of 16, 16 and 1
SEGMENTS = 3
OVER = {3: "done", 4: "failed", 5: "dead", 6: "cancelled"}
CLAIM, SEGMENT, FINISH = 2, 3, 4  # codes of events


def speech():
    """WAV of a square wave whose pitch differs from second to second."""
    rate = 16000
    place = io.BytesIO()
    with wave.open(place, "wb") as out:
        out.setparams((1, 2, rate, 0, "NONE", ""))
        out.writeframes(b"".join((6000 if (i * (150 + 70 * (i // rate % 5)) // rate) % 2 else -6000).to_bytes(2, "little", signed=True)
                                 for i in range(SPEECH_S * rate)))
    return place.getvalue()


class Hooks(http.server.ThreadingHTTPServer):
    """Takes webhooks; `told` has the jobs."""

    daemon_threads = True

    def __init__(self):
        self.told = []
        super().__init__(("127.0.0.1", 0), Hook)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/hook"


class Hook(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.told.append((message["type"], message["job"]["id"]))
        self.send_response(204)
        self.end_headers()


class JobRig:
    def __init__(self, navtalk, library, store=None, **settings):
        place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="navtalk-job-kills-", dir=place))
        (self.folder / "tmp").mkdir()
        self.navtalk = navtalk
        self.store = store or Sqlite(self.folder)
        self.steps = KillSteps(library, self.folder)
        self.hooks = Hooks()
        self.sound = speech()
        more = {} if store is None else {"KILL_STEPS_POSTGRES": "1"}
        self.environment = environment_of(
            self.folder,
            NAVTALK_STORE_URL=self.store.url,
            NAVTALK_SIGNING_SECRET="of this test",
            NAVTALK_WEBHOOK_ALLOW_PRIVATE="true",
            **{"NAVTALK_POOL_FREE_RUNNING_GPU": "1", "NAVTALK_POOL_FAILED_HOLD_S": "1", **settings},
            TMPDIR=str(self.folder / "tmp"),
            **more,
            **self.steps.environment(),
        )
        self.gateway = None
        self.start()

    def close(self):
        self.steps.close()
        self.gateway.end()
        for pid in self.workers():
            os.kill(pid, 9)
        self.hooks.shutdown()
        self.hooks.server_close()
        self.store.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self):
        command = [self.navtalk, "--json", "serve", "--listen", "127.0.0.1:0", "--drain-s", "0.2"]
        self.gateway = Gateway(command, self.environment, self.folder / "log")
        self.gateway.started()

    def restart(self):
        """The same service, whose workers never crashed: after kills in a row a new worker has to wait for up to a minute."""
        self.gateway.end()
        self.start()

    def keep_alive(self):
        """Whoever runs the service starts it again."""
        if self.gateway.process.poll() is not None:
            self.gateway.end()
            self.start()

    def workers(self):
        return worker_processes(self.folder)

    def log(self):
        return (self.folder / "log").read_text(errors="replace")

    def wait(self, what, holds, patience_s=PATIENCE_S):
        end = time.monotonic() + patience_s
        while True:
            self.keep_alive()
            found = holds()
            if found:
                return found
            if time.monotonic() > end:
                raise AssertionError(f"not within {patience_s} s: {what}\n{self.log()[-4000:]}")
            time.sleep(0.02)

    # --- a user

    def form(self, mark, width=64):
        """The request of a job whose file is unlike that of any other, and whose sound is the same."""
        sound = self.sound + b"LIST" + len(mark).to_bytes(4, "little") + mark.encode()
        job = {"avatar": "ada", "output": {"fps": "1", "width": width}, "webhook": self.hooks.url}
        border = "----navtalk"
        parts = [
            (f'--{border}\r\nContent-Disposition: form-data; name="job"\r\n\r\n{json.dumps(job)}\r\n').encode(),
            (f'--{border}\r\nContent-Disposition: form-data; name="audio"; filename="a.wav"\r\n\r\n').encode(),
            sound,
            f"\r\n--{border}--\r\n".encode(),
        ]
        return b"".join(parts), f"multipart/form-data; boundary={border}", hashlib.sha256(sound).hexdigest()

    def submit(self, key, **output):
        """The job's id, however often it has to be asked for."""
        body, kind, _ = self.form(key, **output)
        headers = {"Content-Type": kind, "Idempotency-Key": key}

        def asked():
            request = urllib.request.Request(self.gateway.url + "/v1/jobs", data=body, headers=headers)
            try:
                with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
                    return json.loads(answer.read())["id"]
            except urllib.error.HTTPError as error:
                if error.code not in (500, 503):
                    raise
            except (OSError, http.client.HTTPException):  # it may end in the middle of its answer
                pass
            return None

        return self.wait("the job is accepted", asked)

    def result(self, job):
        with urllib.request.urlopen(f"{self.gateway.url}/v1/jobs/{job}/result", timeout=PATIENCE_S) as answer:
            return answer.read()

    # --- what is there

    def rows(self, statement):
        """As the store has them, which may be away for a moment."""
        end = time.monotonic() + PATIENCE_S
        while True:
            try:
                return self.store.rows(statement)
            except AssertionError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.05)

    def job(self, id):
        rows = self.rows(f"SELECT * FROM jobs WHERE id = '{id}'")
        return rows[0] if rows else None

    def events(self, job):
        return self.rows(f"SELECT * FROM job_events WHERE job = {job['number']} ORDER BY number")

    def is_idle(self):
        """The worker is ready, and nobody has its slot."""
        return [gpu["state"] for gpu in self.rows("SELECT state FROM gpus WHERE state <> 4")] == [0] and not self.leases()

    def leases(self):
        return self.rows("SELECT lease FROM sessions")

    def frames(self, content):
        file = self.folder / "probe.mp4"
        file.write_bytes(content)
        ran = subprocess.run(["ffprobe", "-v", "error", "-count_frames", "-select_streams", "v:0", "-show_entries",
                              "stream=nb_read_frames:format=duration", "-of", "json", file], capture_output=True, text=True, check=True)
        shown = json.loads(ran.stdout)
        return int(shown["streams"][0]["nb_read_frames"]), float(shown["format"]["duration"])


def new_key():
    return uuid.uuid4().hex
