"""usage: serve_test.py NAVTALK   the built navtalk serves users: gateway, worker processes, client processes"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
import urllib.error
import urllib.request

from patience import PATIENCE_S, eventually
from serve_process import PROGRAM, START, Process, next_picture, receive, variables_of, websocket
from synthetic_voice import synthetic_voice
from worker_processes import new_folder, worker_processes

ADA = pathlib.Path(__file__).resolve().parents[2] / "assets/demo/avatars/ada"

# A user as a process of its own, to be killed.
CLIENT = """
import sys, time, websocket
socket = websocket.create_connection(sys.argv[1])
socket.send('{"type":"session.start"}')
while '"session.ready"' not in socket.recv():
    pass
print("ready", flush=True)
time.sleep(3600)
"""


class Gateway(unittest.TestCase):
    def setUp(self):
        self.gateway = Process(
            "--listen",
            "127.0.0.1:0",
            "--drain-s",
            "1",
            NAVTALK_POOL_FREE_RUNNING_GPU="1",
            NAVTALK_SERVER_RESUME_S="2",
        )
        self.addCleanup(self.clean)

    def clean(self):
        self.gateway.end()
        for pid in worker_processes(self.gateway.folder):
            os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self.gateway.folder)

    def ready(self):
        eventually(lambda: self.gateway.states() == ["idle"], "a worker is ready")

    def test_a_user_waits_for_the_first_worker_and_gets_it(self):
        socket = self.gateway.connect()
        socket.send(START)
        ready = receive(socket, "session.ready")
        self.assertEqual(ready["video"]["fps"], 25)
        self.assertEqual(self.gateway.states(), ["running"])
        # A CPU has no memory, load and temperature of a GPU.
        self.assertEqual([gpu["gpu"] for gpu in self.gateway.pool()["gpus"]], [None])
        self.assertNotIn("navtalk_pool_measured_gpus", self.gateway.ask("GET", "/metrics")[1])
        second = self.gateway.connect()
        second.send(START)
        self.assertEqual(receive(second, "queue.update")["position"], 1)
        socket.send(json.dumps({"type": "session.end"}))
        receive(second, "session.ready")

    def test_a_stop_says_that_the_worker_stays_and_names_no_error(self):
        self.ready()
        self.gateway.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.gateway.process.wait(PATIENCE_S), 128 + signal.SIGTERM)
        last = json.loads(self.gateway.process.stdout.read())
        self.assertEqual(last, {"stopped": True, "workers_left": 1, "workers_end_after_s": 60})
        self.assertEqual(self.gateway.errors(), [])

    def test_a_killed_client_gives_its_slot_back(self):
        url = self.gateway.url.replace("http", "ws") + "/v1/realtime"
        client = subprocess.Popen([sys.executable, "-c", CLIENT, url], stdout=subprocess.PIPE)
        self.assertEqual(client.stdout.readline(), b"ready\n")
        self.assertEqual(self.gateway.states(), ["running"])
        client.kill()
        client.wait()
        client.stdout.close()
        eventually(lambda: self.gateway.states() == ["idle"], "the slot is free")

    def test_a_worker_killed_in_a_session_is_replaced_and_the_session_goes_on(self):
        self.ready()
        socket = self.gateway.connect()
        socket.send(START)
        receive(socket, "session.ready")
        next_picture(socket)
        (worker,) = worker_processes(self.gateway.folder)
        os.kill(worker, signal.SIGKILL)
        self.assertGreater(receive(socket, "worker.changed")["gap_s"], 0)
        self.assertNotEqual(worker_processes(self.gateway.folder), [worker])
        picture = next_picture(socket)
        self.assertEqual(picture[1] & 5, 5)  # a key frame, after a gap
        self.assertGreater(int.from_bytes(picture[4:8], "little"), 0)

    def test_a_dropped_client_comes_back_to_its_session(self):
        self.ready()
        socket = self.gateway.connect()
        socket.send(START)
        ready = receive(socket, "session.ready")
        first = next_picture(socket)
        again = self.gateway.connect()
        again.send(json.dumps({"type": "session.start", "resume_token": ready["resume_token"]}))
        self.assertEqual(receive(again, "session.ready")["session"], ready["session"])
        picture = next_picture(again)
        self.assertEqual(picture[1] & 5, 5)
        self.assertGreater(int.from_bytes(picture[4:8], "little"), int.from_bytes(first[4:8], "little"))
        replayed = self.gateway.connect()
        replayed.send(json.dumps({"type": "session.start", "resume_token": ready["resume_token"]}))
        self.assertEqual(receive(replayed, "error")["code"], "resume_failed")

    def test_a_restarted_gateway_takes_its_workers_over(self):
        self.ready()
        (worker,) = worker_processes(self.gateway.folder)
        before = self.gateway.pool()["gpus"][0]["id"]
        self.assertEqual(self.gateway.end(signal.SIGKILL), -signal.SIGKILL)
        self.gateway = Process("--listen", "127.0.0.1:0", "--drain-s", "1", folder=self.gateway.folder)
        socket = self.gateway.connect()
        socket.send(START)
        receive(socket, "session.ready")
        self.assertEqual(worker_processes(self.gateway.folder), [worker])
        self.assertEqual(self.gateway.pool()["gpus"][0]["id"], before)

    def test_a_terminated_gateway_tells_its_users_and_ends_with_143(self):
        self.ready()
        socket = self.gateway.connect()
        socket.send(START)
        receive(socket, "session.ready")
        self.gateway.process.terminate()
        self.assertEqual(receive(socket, "session.draining")["notice_s"], 1)
        self.assertEqual(receive(socket, "error")["code"], "drained")
        socket.recv()
        self.assertEqual(self.gateway.end(), 143)
        self.assertEqual(self.gateway.errors(), [])

    def test_sessions_that_end_cleanly_leave_no_error_in_the_log(self):
        self.ready()
        for by_frame in (True, False):
            socket = self.gateway.connect()
            socket.send(START)
            receive(socket, "session.ready")
            if by_frame:
                socket.send(json.dumps({"type": "session.end"}))
                farewell = socket.recv_frame()
                while farewell.opcode != websocket.ABNF.OPCODE_CLOSE:
                    farewell = socket.recv_frame()  # pictures
                self.assertEqual(int.from_bytes(farewell.data[:2], "big"), 1000)
            else:
                socket.close()
            eventually(lambda: self.gateway.states() == ["idle"], "the slot is free")
        self.gateway.process.terminate()
        self.assertEqual(self.gateway.end(), 143)
        self.assertEqual(self.gateway.errors(), [])

    def test_speech_comes_back_with_pictures_of_who_speaks(self):
        self.ready()
        socket = self.gateway.connect()
        socket.send(json.dumps({"type": "session.start", "avatar": "ada", "video": {"width": 160}}))
        video = receive(socket, "session.ready")["video"]
        self.assertEqual((video["width"], video["height"], video["fps"]), (160, 160, 25))
        self.assertTrue(video["codec"].startswith("avc1."), video)
        speech = synthetic_voice(16000)
        socket.send_binary(speech)
        socket.send('{"type":"input.end"}')
        sound, pictures, events = b"", [], []
        while len(sound) < len(speech) or not pictures:
            frame = socket.recv()
            if isinstance(frame, str):
                events.append(json.loads(frame)["type"])
            elif frame[0] == 1:
                sound += frame[16:]
            else:
                pictures.append(frame)
        self.assertEqual(sound, speech)
        self.assertIn("speech.started", events)
        self.assertEqual(pictures[0][1] & 1, 1, "the first picture is a key frame")
        self.assertEqual(pictures[0][16:21], b"\0\0\0\1\x67", "and begins with its parameters")
        socket.send('{"type":"session.end"}')

    def test_a_text_is_spoken(self):
        if shutil.which("espeak-ng") is None:
            self.skipTest("espeak-ng is not installed")
        self.ready()
        socket = self.gateway.connect()
        socket.send(START)
        receive(socket, "session.ready")
        socket.send('{"type":"input.text","text":"Good morning."}')
        self.assertGreater(receive(socket, "speech.started")["pts_us"], 0)
        receive(socket, "speech.ended")

    def test_bad_frames_are_told(self):
        socket = self.gateway.connect()
        socket.send("nonsense")
        self.assertEqual(receive(socket, "error")["code"], "usage")
        loud = self.gateway.connect()
        # A text frame that announces more than there may be; the rest is never sent.
        loud.sock.sendall(b"\x81\xff" + ((1 << 20) + 1).to_bytes(8, "big") + bytes(4))
        farewell = loud.recv_frame()
        self.assertEqual(farewell.opcode, websocket.ABNF.OPCODE_CLOSE)
        self.assertEqual(int.from_bytes(farewell.data[:2], "big"), 1009)

    def test_the_operators_key_is_made_once_for_its_owner_alone(self):
        key = pathlib.Path(self.gateway.folder, "operator-key")
        self.assertEqual(key.stat().st_mode & 0o777, 0o600)
        self.assertEqual(self.gateway.ask("GET", "/v1/pool", Authorization="Bearer another")[0], 401)
        status, refusal = self.gateway.ask("GET", "/v1/pool")
        self.assertEqual(status, 401)
        self.assertNotIn(self.gateway.folder, refusal)
        self.assertEqual(self.gateway.ask("GET", "/v1/pool", **self.gateway.as_operator())[0], 200)
        before = key.read_text(encoding="ascii")
        self.gateway.end()
        self.gateway = Process("--listen", "127.0.0.1:0", folder=self.gateway.folder)
        self.assertEqual(key.read_text(encoding="ascii"), before)

    def test_the_store_and_the_loops_make_it_ready(self):
        eventually(lambda: self.gateway.ask("GET", "/readyz")[0] == 200, "ready")
        status, metrics = self.gateway.ask("GET", "/metrics")
        self.assertEqual(status, 200)
        self.assertIn("navtalk_pool_gpus", metrics)


class Secrets(unittest.TestCase):
    def test_they_are_in_no_environment_once_they_are_read(self):
        secrets = {"RUNPOD_API_KEY": "not-a-key", "NAVTALK_WORKER_TOKEN": "sesame", "NAVTALK_OPERATOR_KEY": "not-this"}
        gateway = Process(
            "--listen",
            "127.0.0.1:0",
            NAVTALK_POOL_FREE_RUNNING_GPU="1",
            NAVTALK_RUNPOD_API_URL="http://127.0.0.1:1",
            **secrets,
        )
        self.addCleanup(shutil.rmtree, gateway.folder)
        self.addCleanup(lambda: [os.kill(pid, signal.SIGKILL) for pid in worker_processes(gateway.folder)])
        self.addCleanup(gateway.end)
        # The worker is asked with the token, so both sides have it.
        eventually(lambda: gateway.states() == ["idle"], "a worker is ready")
        (worker,) = worker_processes(gateway.folder)
        for pid in (gateway.process.pid, worker):
            variables = variables_of(pid)
            self.assertEqual(variables["STATE_DIRECTORY"], gateway.folder)
            for secret in secrets.values():
                # The message names no variable of whoever runs the tests.
                self.assertFalse(any(secret in value for value in variables.values()), f"process {pid}")
        self.assertNotIn("RUNPOD_API_KEY", variables_of(worker))


class Registered(unittest.TestCase):
    def setUp(self):
        self.folder = new_folder("navtalk-serve-")
        self.addCleanup(lambda: shutil.rmtree(self.folder))
        self.gateway = Process("--listen", "127.0.0.1:0", folder=self.folder, NAVTALK_LOCAL_DEVICES="none")
        self.addCleanup(lambda: self.gateway.end())
        # An address that no other test has: the URL is known before its worker starts.
        pid = os.getpid()
        self.url = f"http://127.{100 + (pid >> 16)}.{pid >> 8 & 255}.{pid & 255 or 1}:2161"

    def worker(self, token):
        worker = Process("--worker", "--listen", self.url.removeprefix("http://"), NAVTALK_WORKER_TOKEN=token)
        self.addCleanup(lambda: shutil.rmtree(worker.folder))
        self.addCleanup(lambda: worker.end())
        return worker

    def ask(self, method, path, body=None):
        headers = {**self.gateway.as_operator(), "Content-Type": "application/json"}
        return json.loads(self.gateway.ask(method, path, body, **headers)[1])

    def printed_token(self):
        command = [PROGRAM, "pool", "token", self.url + "/"]
        variables = {name: value for name, value in os.environ.items() if not name.startswith("NAVTALK_")}
        variables["STATE_DIRECTORY"] = self.folder
        done = subprocess.run(command, env=variables, capture_output=True, text=True, check=True, timeout=PATIENCE_S)
        return done.stdout.strip()

    def test_it_takes_sessions_with_the_token_of_its_url_and_not_with_the_pools_secret(self):
        wrong = self.worker(pathlib.Path(self.folder, "worker-token").read_text(encoding="ascii"))
        first = self.ask("POST", "/v1/pool/gpus", {"url": self.url})
        eventually(lambda: self.gateway.states() == ["failed"], "the secret is refused")
        self.assertIn(f"navtalk pool token {self.url}", self.gateway.pool()["gpus"][0]["last_error"])
        self.ask("DELETE", f"/v1/pool/gpus/{first['id']}")
        wrong.end()
        self.worker(self.printed_token())
        self.ask("POST", "/v1/pool/gpus", {"url": self.url})
        eventually(lambda: self.gateway.states() == ["idle"], "the worker is ready")
        socket = self.gateway.connect()
        socket.send(START)
        receive(socket, "session.ready")


class Worker(unittest.TestCase):
    def setUp(self):
        self.avatars = tempfile.mkdtemp(prefix="navtalk-avatars-")
        self.addCleanup(lambda: shutil.rmtree(self.avatars))
        self.worker = Process("--worker", NAVTALK_WORKER_TOKEN="sesame", NAVTALK_AVATARS_PATH=self.avatars)
        self.addCleanup(lambda: shutil.rmtree(self.worker.folder))
        self.addCleanup(self.worker.end)
        self.bearer = {"Authorization": "Bearer sesame"}
        eventually(lambda: self.worker.ask("GET", "/healthz", **self.bearer)[0] == 200, "loaded")

    def health(self):
        return json.loads(self.worker.ask("GET", "/healthz", **self.bearer)[1])

    def test_its_token_is_in_its_memory_alone(self):
        variables = variables_of(self.worker.process.pid)
        self.assertEqual(variables["NAVTALK_AVATARS_PATH"], self.avatars)
        self.assertFalse(any("sesame" in value for value in variables.values()))

    def test_another_protocol_is_refused(self):
        headers = {**self.bearer, "X-Navtalk-Protocol": "2"}
        self.assertEqual(self.worker.ask("GET", "/healthz", **headers)[0], 426)
        self.assertEqual(self.worker.ask("GET", "/healthz", Authorization="Bearer open")[0], 401)

    def test_it_pauses_wakes_and_holds_a_session(self):
        self.assertEqual(self.worker.ask("POST", "/v1/pause", **self.bearer)[0], 200)
        self.assertEqual(self.health()["state"], "paused")
        self.assertEqual(self.worker.ask("POST", "/v1/wake", **self.bearer)[0], 200)
        socket = self.worker.connect("/v1/session?lease=a&epoch=1&slot=0", ["Authorization: Bearer sesame"])
        socket.send(START)
        self.assertEqual(receive(socket, "session.ready")["avatar"], "ada")
        self.assertEqual(self.worker.ask("POST", "/v1/pause", **self.bearer)[0], 409)
        self.assertEqual(self.health()["lease_epochs"], [1])

    def test_an_avatar_that_is_not_there_is_told(self):
        body = {"avatar": "../../etc"}
        self.assertEqual(self.worker.ask("POST", "/v1/prepare", body, **self.bearer)[0], 400)
        self.assertEqual(self.worker.ask("POST", "/v1/prepare", {"avatar": "nobody"}, **self.bearer)[0], 404)

    def test_a_broken_avatar_is_told_without_paths(self):
        shutil.copytree(ADA, os.path.join(self.avatars, "broken"))
        os.remove(os.path.join(self.avatars, "broken", "frames.mp4"))
        socket = self.worker.connect("/v1/session?lease=a&epoch=1&slot=0", ["Authorization: Bearer sesame"])
        socket.send(json.dumps({"type": "session.start", "avatar": "broken"}))
        error = receive(socket, "error")
        self.assertEqual(error["code"], "invalid")
        self.assertIn("broken", error["message"])
        self.assertNotIn("/", error["message"])

    def test_it_ends_with_143(self):
        self.assertEqual(self.worker.end(), 143)


class Usage(unittest.TestCase):
    def run_serve(self, *arguments, **environment):
        with tempfile.TemporaryDirectory() as folder:
            variables = {**os.environ, "STATE_DIRECTORY": folder, **environment}
            return subprocess.run(
                [PROGRAM, "serve", *arguments], capture_output=True, text=True, env=variables, timeout=PATIENCE_S
            )

    def test_only_loopback_is_listened_on(self):
        for arguments in (
            ["--listen", "0.0.0.0:0"],
            ["--listen", "127.0.0.1:0", "--admin-listen", "0.0.0.0:0"],
            ["--worker", "--listen", "0.0.0.0:0"],
        ):
            done = self.run_serve(*arguments)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn("127.0.0.1", done.stderr)

    def test_a_folder_of_jobs_that_cannot_be_made_is_named_with_its_key(self):
        folder = "/dev/null/jobs"
        done = self.run_serve("--listen", "127.0.0.1:0", NAVTALK_JOBS_FOLDER=folder, NAVTALK_LOCAL_DEVICES="none")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn(f"jobs.folder: {folder} cannot be made", done.stderr)

    def test_an_address_is_numeric_with_a_port(self):
        self.assertEqual(self.run_serve("--listen", "somewhere").returncode, 2)
        self.assertEqual(self.run_serve("--admin-listen", "somewhere").returncode, 2)

    def test_the_port_of_operators_is_told_and_a_worker_has_none(self):
        self.assertEqual(self.run_serve("--worker", "--admin-listen", "127.0.0.1:0").returncode, 2)
        with tempfile.TemporaryDirectory() as folder:
            variables = {**os.environ, "STATE_DIRECTORY": folder, "NAVTALK_LOCAL_DEVICES": "none"}
            command = [PROGRAM, "--json", "serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"]
            gateway = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=variables)
            try:
                told = json.loads(gateway.stdout.readline())
                self.assertNotEqual(told["admin_url"], told["url"])
                with urllib.request.urlopen(told["admin_url"] + "/metrics", timeout=PATIENCE_S) as answer:
                    self.assertEqual(answer.status, 200)
                with self.assertRaises(urllib.error.HTTPError) as refused:
                    urllib.request.urlopen(told["url"] + "/metrics", timeout=PATIENCE_S)
                self.assertEqual(refused.exception.code, 404)
                refused.exception.close()
            finally:
                gateway.terminate()
                gateway.communicate(timeout=PATIENCE_S)

    def test_a_worker_without_models_says_what_is_missing(self):
        done = self.run_serve("--worker", "--models", "/nowhere")
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("/nowhere", done.stderr)


if __name__ == "__main__":
    unittest.main()
