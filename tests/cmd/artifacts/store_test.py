"""usage: store_test.py NAVTALK   models and avatars go to stores and come back whole, from servers that cut, slow and lie"""

import contextlib
import importlib.util
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from store_server import Server  # noqa: E402

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
DEMO = pathlib.Path(__file__).resolve().parents[3] / "assets/demo"
PATIENCE_S = 300
CREDENTIALS = ("AKEXAMPLE", "hidden/secret+key", "hidden-token", "eu-test-1")
OURS = ("NAVTALK_", "AWS_")
COPIES = 16


def environment(folder, **variables):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    return {
        **kept,
        "CACHE_DIRECTORY": str(folder / "cache"),
        "STATE_DIRECTORY": str(folder / "state"),
        "NAVTALK_LOG_FORMAT": "text",
        **variables,
    }


def aws(server):
    key, secret, token, region = CREDENTIALS
    return {
        "AWS_ACCESS_KEY_ID": key,
        "AWS_SECRET_ACCESS_KEY": secret,
        "AWS_SESSION_TOKEN": token,
        "AWS_REGION": region,
        "AWS_ENDPOINT_URL": server.url,
    }


def files_of(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class Store(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="navtalk-store-")
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)

    def run_navtalk(self, *arguments, **variables):
        return subprocess.run(
            [PROGRAM, *arguments],
            capture_output=True,
            text=True,
            cwd=self.folder,
            env=environment(self.folder, **variables),
            check=False,
            timeout=PATIENCE_S,
        )

    def navtalk(self, *arguments, **variables):
        done = self.run_navtalk(*arguments, "--json", **variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def failed(self, status, *arguments, **variables):
        done = self.run_navtalk(*arguments, "--json", **variables)
        self.assertEqual(done.returncode, status, done.stderr)
        return json.loads(done.stdout)["error"]["message"]

    def server(self, *arguments, **named):
        server = Server(*arguments, **named)
        self.addCleanup(server.close)
        return server

    def pushed(self):
        """The demo's model and one avatar, as a store has them."""
        store = self.folder / "store"
        self.navtalk("model", "push", str(DEMO / "models"), "--name", "demo", "--source", str(store))
        self.navtalk("avatar", "push", str(DEMO / "avatars/ada"), "--source", str(store))
        return {f"/{path}": body for path, body in files_of(store).items()}


class Folders(Store):
    def test_what_was_pushed_is_pulled_and_nothing_else(self):
        model = self.folder / "model"
        shutil.copytree(DEMO / "models", model)
        (model / "notes.txt").write_text("not of the model")
        pushed = self.navtalk("model", "push", "./model/", "--source", "store")
        self.assertEqual((pushed["kind"], pushed["name"]), ("model", "model"))
        self.assertEqual(pushed["uploaded_bytes"], pushed["bytes"])
        self.assertEqual(self.navtalk("model", "push", "model", "--source", "store")["uploaded_bytes"], 0)
        pulled = self.navtalk("model", "pull", "model", "--source", "store")
        self.assertEqual(pulled["digest"], pushed["digest"])
        came = files_of(pathlib.Path(pulled["path"]))
        self.assertNotIn("notes.txt", came)
        self.assertEqual(len(came), pulled["files"])
        for path, body in came.items():
            self.assertEqual(body, (model / path).read_bytes())
        checked = self.navtalk("model", "check", pulled["path"])
        self.assertTrue(checked["fits"])

    def test_an_avatar_goes_by_its_id(self):
        pushed = self.navtalk("avatar", "push", str(DEMO / "avatars/theo"), "--source", "store")
        self.assertEqual((pushed["kind"], pushed["name"]), ("avatar", "theo"))
        pulled = self.navtalk("avatar", "pull", "theo", NAVTALK_MODELS_SOURCE=str(self.folder / "store"))
        shown = self.navtalk("avatar", "show", pulled["path"])
        self.assertEqual(shown["id"], "theo")

    def test_what_is_not_there_or_not_whole_is_told(self):
        (self.folder / "store").mkdir()
        self.assertIn("no source of models has the model none", self.failed(4, "model", "pull", "none", "--source", "store"))
        self.assertIn("no model store is configured", self.failed(3, "model", "pull", "none"))
        shutil.copytree(DEMO / "models", self.folder / "model")
        next((self.folder / "model/sd-vae").glob("diffusion*")).unlink()
        self.assertIn("not a complete model", self.failed(3, "model", "push", "model", "--source", "store"))
        self.assertEqual(files_of(self.folder / "store"), {})
        self.assertIn("has no blanks", self.failed(2, "model", "pull", "m", "--source", "a b"))


class Web(Store):
    def test_a_server_that_cuts_ends_in_the_right_bytes_each_sent_once(self):
        objects = self.pushed()

        def cut(request, _path, body):
            first = request.first_byte() or 0
            left = (body or b"")[first:]
            if request.command != "GET" or len(left) <= 300_000:
                return False
            status = 206 if first else 200
            request.cut(left, 300_000, status, [("Content-Range", f"bytes {first}-{len(body) - 1}/{len(body)}")])
            return True

        server = self.server(objects, cut)
        pulled = self.navtalk("model", "pull", "demo", "--source", server.url)
        self.assertGreater(sum(1 for _, _, first in server.asked if first), 3)
        self.assertTrue(self.navtalk("model", "check", pulled["path"])["fits"])
        content = sum(size for path, size in server.sent.items() if path.startswith("/blobs/"))
        self.assertEqual(content, pulled["bytes"])

    def test_a_slow_server_is_waited_for(self):
        server = self.server(self.pushed(), lambda request, path, body: body and path.startswith("/blobs/") and (request.drip(body, 0.01) or True))
        self.assertTrue(self.navtalk("model", "check", self.navtalk("model", "pull", "demo", "--source", server.url)["path"])["fits"])

    def test_wrong_bytes_are_never_in_the_cache(self):
        objects = self.pushed()
        files = json.loads(objects["/models/demo/manifest.json"])["files"]
        largest = "/" + max(files, key=lambda file: file["bytes"])["key"]
        server = self.server({**objects, largest: objects[largest][:-1] + bytes([objects[largest][-1] ^ 1])})
        message = self.failed(1, "model", "pull", "demo", "--source", server.url)
        self.assertIn("do not have the SHA-256 of the manifest", message)
        self.assertFalse((self.folder / "cache/artifacts" / largest[1:]).exists())
        self.assertEqual(list((self.folder / "cache/artifacts/models/demo").glob("*/musetalkV15")), [])
        good = self.server(objects)
        pulled = self.navtalk("model", "pull", "demo", "--source", server.url, "--source", good.url)
        self.assertTrue(self.navtalk("model", "check", pulled["path"])["fits"])
        self.assertIn(("GET", largest, None), good.asked)

    def test_a_process_that_is_killed_is_continued_by_the_next(self):
        objects = self.pushed()
        holding = []

        def hold(request, path, body):
            if request.command != "GET" or not path.startswith("/blobs/") or len(body) < 400_000 or holding:
                return False
            holding.append(path)
            request.cut(body, 300_000)
            request.wfile.flush()
            request.rfile.read(1)  # until the client is gone
            return True

        server = self.server(objects, hold)
        arguments = [PROGRAM, "model", "pull", "demo", "--source", server.url]
        with subprocess.Popen(arguments, env=environment(self.folder), cwd=self.folder, stderr=subprocess.PIPE) as process:
            deadline = time.monotonic() + PATIENCE_S
            partial = self.folder / "cache/artifacts/partial"
            while not holding or not any(path.stat().st_size == 300_000 for path in partial.glob("*")):
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.01)
            process.send_signal(signal.SIGKILL)
        self.navtalk("model", "pull", "demo", "--source", server.url)
        self.assertIn(("GET", holding[0], "bytes=300000-"), server.asked)

    def test_many_workers_that_start_at_once_take_one_copy(self):
        server = self.server(self.pushed())
        arguments = [PROGRAM, "model", "pull", "demo", "--source", server.url, "--json"]
        with contextlib.ExitStack() as stack:
            started = [
                stack.enter_context(subprocess.Popen(arguments, env=environment(self.folder), cwd=self.folder, stdout=subprocess.PIPE))
                for _ in range(COPIES)
            ]
            answers = [json.loads(process.communicate(timeout=PATIENCE_S)[0]) for process in started]
        self.assertEqual({process.returncode for process in started}, {0})
        self.assertEqual(len({answer["path"] for answer in answers}), 1)
        content = sum(size for path, size in server.sent.items() if path.startswith("/blobs/"))
        self.assertEqual(content, answers[0]["bytes"])

    def test_a_web_server_is_not_pushed_to(self):
        server = self.server()
        self.assertIn("can only be read", self.failed(1, "model", "push", str(DEMO / "models"), "--name", "m", "--source", server.url))


class S3(Store):
    def test_every_request_of_a_push_and_a_pull_is_signed(self):
        server = self.server(credentials=CREDENTIALS)
        pushed = self.navtalk("model", "push", str(DEMO / "models"), "--name", "demo", "--source", "s3://models/a/b_c.d", **aws(server))
        self.assertEqual(server.refused, [])
        self.assertIn("/models/a/b_c.d/models/demo/manifest.json", server.objects)
        self.assertEqual(pushed["source"], "s3://models/a/b_c.d")
        largest = max(server.objects, key=lambda path: len(server.objects[path]))
        partial = self.folder / "cache/artifacts/partial"
        partial.mkdir(parents=True)
        (partial / largest.rsplit("/", 1)[1]).write_bytes(server.objects[largest][:1000])  # so that a range is asked for, too
        pulled = self.navtalk("model", "pull", "demo", "--source", "s3://models/a/b_c.d", **aws(server))
        self.assertEqual(server.refused, [])
        self.assertIn(("GET", largest, "bytes=1000-"), server.asked)
        self.assertEqual(pulled["digest"], pushed["digest"])
        again = self.navtalk("model", "push", str(DEMO / "models"), "--name", "demo", "--source", "s3://models/a/b_c.d", **aws(server))
        self.assertEqual(again["uploaded_bytes"], 0)

    def test_a_wrong_secret_is_refused_and_none_is_ever_shown(self):
        server = self.server(credentials=CREDENTIALS)
        variables = {**aws(server), "AWS_SECRET_ACCESS_KEY": "hidden-and-wrong", "NAVTALK_LOG_LEVEL": "trace"}
        for command in (["model", "pull", "demo"], ["model", "push", str(DEMO / "models"), "--name", "demo"]):
            done = self.run_navtalk(*command, "--source", "s3://models/a", "--json", **variables)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("403", done.stderr)
            self.assertNotIn("hidden", done.stderr + done.stdout)
        self.assertTrue(server.refused)
        self.assertEqual(server.objects, {})

    def test_half_of_the_credentials_are_an_error(self):
        message = self.failed(3, "model", "pull", "demo", "--source", "s3://models/a", AWS_ACCESS_KEY_ID="hidden")
        self.assertIn("AWS_SECRET_ACCESS_KEY", message)
        self.assertNotIn("hidden", message)

    @unittest.skipUnless(importlib.util.find_spec("moto") and importlib.util.find_spec("flask"), "PyPI's moto[server] is not installed")
    def test_another_implementation_of_s3_takes_and_gives_models(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        code = f"from moto.server import ThreadedMotoServer as S; import signal; S('127.0.0.1', {port}).start(); signal.pause()"
        with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as moto:
            try:
                self.wait_for(port)
                url = f"http://127.0.0.1:{port}"
                urllib.request.urlopen(urllib.request.Request(f"{url}/models", method="PUT"), timeout=30).close()
                variables = {**aws(self.server()), "AWS_ENDPOINT_URL": url, "AWS_REGION": "us-east-1"}
                pushed = self.navtalk("model", "push", str(DEMO / "models"), "--name", "demo", "--source", "s3://models/a", **variables)
                pulled = self.navtalk("model", "pull", "demo", "--source", "s3://models/a", **variables)
                self.assertEqual(pulled["digest"], pushed["digest"])
                self.assertEqual(pulled["downloaded_bytes"], pushed["bytes"])
                self.failed(4, "model", "pull", "none", "--source", "s3://models/a", **variables)
            finally:
                moto.kill()

    def wait_for(self, port):
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                return
            time.sleep(0.05)
        self.fail("moto does not listen")


class Rendering(Store):
    def test_infer_fetches_the_model_and_the_avatar_that_are_not_here(self):
        objects = self.pushed()
        objects = {path.replace("/avatars/ada/", "/avatars/guest/"): body for path, body in objects.items()}
        manifest = "/avatars/guest/manifest.json"
        objects[manifest] = objects[manifest].replace(b'"name": "ada"', b'"name": "guest"')
        server = self.server(objects)
        command = ["infer", "--avatar", "guest", "--text", "Hi", "--models", "/nowhere/demo", "--fps", "5", "--output", "hi.mp4"]
        self.assertIn("guest", self.failed(4, *command))
        self.navtalk(*command, "--source", server.url)
        self.assertGreater((self.folder / "hi.mp4").stat().st_size, 1000)
        first = sum(server.sent.values())
        self.navtalk(*command, "--source", server.url, "--force")
        self.assertLess(sum(server.sent.values()) - first, 10_000)  # two manifests
        self.job_run_fetches_them(server)
        server.close()
        self.navtalk(*command, "--source", server.url, "--force")  # what was fetched is still there

    def job_run_fetches_them(self, server):
        here, self.folder = self.folder, self.folder / "another"
        self.folder.mkdir()
        (self.folder / "list.csv").write_text("avatar,text,output,fps\nguest,Hi,hi.mp4,5\n", encoding="utf-8")
        command = ["job", "run", "--csv", "list.csv", "--models", "/nowhere/demo"]
        self.assertEqual(self.run_navtalk(*command).returncode, 4)
        self.navtalk(*command, "--source", server.url)
        self.assertGreater((self.folder / "hi.mp4").stat().st_size, 1000)
        self.folder = here

    def test_a_worker_needs_nothing_but_where_its_store_is(self):
        objects = self.pushed()
        objects = {path.replace("/avatars/ada/", "/avatars/guest/"): body for path, body in objects.items()}
        manifest = "/avatars/guest/manifest.json"
        objects[manifest] = objects[manifest].replace(b'"name": "ada"', b'"name": "guest"')
        server = self.server(objects)
        variables = environment(
            self.folder, NAVTALK_MODELS_SOURCE=server.url, NAVTALK_MODELS_PATH="demo", NAVTALK_WORKER_TOKEN="t" * 32, NAVTALK_LOG_LEVEL="info"
        )
        arguments = [PROGRAM, "serve", "--worker", "--avatar", "guest"]
        with subprocess.Popen(arguments, env=variables, cwd=self.folder, stdout=subprocess.PIPE, text=True) as worker:
            try:
                url = json.loads(worker.stdout.readline())["url"]
                request = urllib.request.Request(f"{url}/healthz", headers={"Authorization": "Bearer " + "t" * 32})
                deadline = time.monotonic() + PATIENCE_S
                health = {}
                while "guest" not in health.get("avatars", []) and time.monotonic() < deadline:
                    try:
                        with urllib.request.urlopen(request, timeout=30) as answer:
                            health = json.load(answer)
                    except urllib.error.HTTPError as error:  # it is not ready yet
                        error.close()
                    time.sleep(0.1)
                self.assertIn("guest", health["avatars"])
            finally:
                worker.terminate()
        self.assertIn(("GET", manifest, None), server.asked)


if __name__ == "__main__":
    unittest.main()
