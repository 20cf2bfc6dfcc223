"""usage: reload_test.py NAVTALK   the built navtalk serves with keys and TLS, and reloads on SIGHUP"""

import json
import os
import pathlib
import shutil
import signal
import ssl
import subprocess
import sys
import time
import unittest
import urllib.error
import urllib.request

from patience import PATIENCE_S, eventually
from worker_processes import new_folder

PROGRAM = sys.argv.pop(1)


def make_certificate(folder, name):
    """A key and a certificate for 127.0.0.1 that it signed itself, as NAME.pem and NAME-key.pem."""
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1"]
        + ["-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1"]
        + ["-out", folder / f"{name}.pem", "-keyout", folder / f"{name}-key.pem"],
        check=True,
        capture_output=True,
    )
    (folder / f"{name}-key.pem").chmod(0o600)


class Serving(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(new_folder("navtalk-reload-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.file = self.folder / "navtalk.toml"
        variables = {name: value for name, value in os.environ.items() if not name.startswith("NAVTALK_")}
        self.variables = dict(variables, STATE_DIRECTORY=str(self.folder))
        self.gateway = None

    def start(self, *arguments):
        self.log = open(self.folder / "log", "ab")
        self.gateway = subprocess.Popen(
            [PROGRAM, "--config", self.file, "--json", "serve", "--listen", "127.0.0.1:0", *arguments],
            stdout=subprocess.PIPE,
            stderr=self.log,
            env=self.variables,
        )
        self.addCleanup(self.end)
        self.url = json.loads(self.gateway.stdout.readline())["url"]
        return self.url

    def end(self):
        self.gateway.send_signal(signal.SIGTERM)
        self.assertEqual(self.gateway.wait(PATIENCE_S), 143)
        self.gateway.stdout.close()
        self.log.close()

    def configure(self, text):
        self.file.write_text('[local]\ndevices = ["none"]\n' + text, encoding="utf-8")

    def lines(self, message):
        """The log's lines with that message; standard error is a file, so the log is JSON."""
        with open(self.folder / "log", encoding="utf-8") as log:
            return [line for line in map(json.loads, log) if line["message"] == message]

    def reload(self, message="reloaded"):
        """SIGHUP, and the log line that says how it went."""
        before = len(self.lines(message))
        self.gateway.send_signal(signal.SIGHUP)
        return eventually(lambda: self.lines(message)[before:], message)[0]

    def changes(self):
        return {line["key"]: line["takes_effect"] for line in self.lines("the configuration changed")}

    def ask(self, path, certificate=None, **headers):
        context = ssl.create_default_context(cafile=certificate) if certificate else None
        request = urllib.request.Request(self.url + path, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_S, context=context) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            error.close()
            return error.code

    def trusted(self, name):
        """Whether the gateway shows that certificate."""
        try:
            return self.ask("/healthz", self.folder / f"{name}.pem") == 200
        except urllib.error.URLError as error:
            self.assertIsInstance(error.reason, ssl.SSLCertVerificationError)
            return False

    def make_key(self, *arguments):
        made = subprocess.run(
            [PROGRAM, "--json", "key", "create", "--tenant", "acme", *arguments],
            env=self.variables,
            check=True,
            capture_output=True,
        )
        return json.loads(made.stdout)

    def limits(self):
        key = (self.folder / "operator-key").read_text().strip()
        request = urllib.request.Request(self.url + "/v1/pool", headers={"Authorization": f"Bearer {key}"})
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            return json.load(answer)

    def test_a_reload_applies_schedules_and_maintenance(self):
        hour = time.gmtime().tm_hour
        now = f'time_zone = "UTC"\nstart = "0 {(hour - 1) % 24} * * *"\nend = "0 {(hour + 2) % 24} * * *"\n'
        entry = f'[[pool.schedule]]\nname = "always"\n{now}min_running_gpu = 1\n'
        window = f'[[pool.maintenance]]\nname = "updates"\n{now}'
        self.configure("[pool]\ntick_s = 1\n")
        self.start()
        self.assertNotIn("always", json.dumps(self.limits()))
        self.configure("[pool]\ntick_s = 1\n" + entry + window)
        self.reload()
        self.assertEqual(self.changes(), {"[[pool.schedule]]": "now", "[[pool.maintenance]]": "now"})
        eventually(lambda: "updates" in json.dumps(self.limits()), "the window")
        self.assertIn("always", json.dumps(self.limits()))
        # An entry that cannot be one changes nothing.
        self.configure("[pool]\ntick_s = 1\n" + entry.replace("UTC", "Nowhere/Else"))
        self.reload("nothing was reloaded, and everything stays as it is")
        self.configure("[pool]\ntick_s = 1\n")
        self.reload()
        eventually(lambda: "updates" not in json.dumps(self.limits()), "the end of the window")
        self.assertNotIn("always", json.dumps(self.limits()))

    def test_a_reload_applies_what_it_may_and_tells_what_needs_a_restart(self):
        self.configure('[server]\nallow_origins = ["https://one.example"]\n[[tenant]]\nname = "acme"\n')
        self.start()
        self.make_key()
        page = {"Origin": "https://two.example"}
        eventually(lambda: self.ask("/v1/nothing") == 401, "keys are asked for")
        self.assertEqual(self.ask("/healthz", **page), 403)
        self.configure(
            '[server]\nallow_origins = ["https://two.example"]\n[pool]\nqueue_limit = 7\n'
            '[[tenant]]\nname = "acme"\nmax_connections = 3\n[[tenant]]\nname = "new"\n'
        )
        self.assertEqual(self.reload()["changes"], "4")
        self.assertEqual(
            self.changes(),
            {
                "server.allow_origins": "now",
                "pool.queue_limit": "after a restart",
                "[[tenant]] acme": "now",
                "[[tenant]] new": "now",
            },
        )
        eventually(lambda: self.ask("/healthz", **page) == 200, "the new page is served")
        # What needs a restart is told again, what was applied is not.
        self.assertEqual(self.reload()["changes"], "1")

    def test_a_bad_file_leaves_everything_as_it_is(self):
        self.configure('[server]\nallow_origins = ["https://one.example"]\n')
        self.start()
        self.make_key()
        page = {"Origin": "https://one.example"}
        eventually(lambda: self.ask("/v1/nothing") == 401, "keys are asked for")
        failed = "nothing was reloaded, and everything stays as it is"
        for text, fault in [
            ("[server]\nallow_origin = []\n", "unknown key 'allow_origin'"),
            ('[server]\nallow_origins = ["two.example"]\n', "'two.example' is not an origin"),
            ('[server]\nlisten = "everywhere"\n', "'everywhere' is not an address"),
            ('[server]\noperator_key_file = "/nowhere"\n', "/nowhere"),
            ('[server]\ntls_certificate_file = "/nowhere"\n', "only one is set"),
            ("[server\n", "navtalk.toml:3"),
        ]:
            with self.subTest(fault):
                self.configure(text)
                self.assertIn(fault, self.reload(failed)["error"])
                self.assertEqual(self.ask("/healthz", **page), 200)
        self.assertEqual(self.changes(), {})
        self.file.unlink()
        self.assertIn("there is no configuration file", self.reload(failed)["error"])

    def test_a_new_certificate_is_shown_after_a_reload_and_a_bad_one_never(self):
        make_certificate(self.folder, "one")
        make_certificate(self.folder, "two")
        for kind in (".pem", "-key.pem"):
            shutil.copy(self.folder / f"one{kind}", self.folder / f"used{kind}")
        self.configure('[server]\ntls_certificate_file = "used.pem"\ntls_key_file = "used-key.pem"\n')
        self.assertTrue(self.start().startswith("https://127.0.0.1:"))
        self.assertTrue(self.trusted("one"))
        shutil.copy(self.folder / "two.pem", self.folder / "used.pem")  # without its key
        self.assertIn("used-key.pem", self.reload("nothing was reloaded, and everything stays as it is")["error"])
        self.assertTrue(self.trusted("one"))
        shutil.copy(self.folder / "two-key.pem", self.folder / "used-key.pem")
        self.assertRegex(self.reload()["certificate_expires"], r"^\d{4}-")
        eventually(lambda: self.trusted("two"), "the new certificate is shown")
        self.assertFalse(self.trusted("one"))
        self.configure("")
        self.reload()
        self.assertEqual(self.changes()["server.tls_key_file"], "after a restart")
        self.assertTrue(self.trusted("two"))

    def test_a_changed_operator_key_counts_after_a_reload(self):
        self.configure("")
        self.start()
        old = {"Authorization": "Bearer " + (self.folder / "operator-key").read_text(encoding="ascii").strip()}
        self.assertEqual(self.ask("/v1/pool", **old), 200)
        (self.folder / "operator-key").write_text("a-key-of-these-tests\n", encoding="ascii")
        self.reload()
        eventually(lambda: self.ask("/v1/pool", **old) == 401, "the old key is refused")
        self.assertEqual(self.ask("/v1/pool", Authorization="Bearer a-key-of-these-tests"), 200)
        self.assertEqual(self.changes(), {"the operator key": "now"})

    def test_the_log_level_changes_with_a_reload(self):
        self.configure('[log]\nlevel = "error"\n')
        self.start()
        self.configure('[log]\nlevel = "info"\n')
        self.reload()
        self.assertEqual(self.changes(), {"log.level": "now"})

    def test_without_a_key_nothing_listens_beyond_loopback(self):
        self.configure("")
        ran = subprocess.run(
            [PROGRAM, "--config", self.file, "serve", "--listen", "0.0.0.0:0"],
            env=self.variables,
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(ran.returncode, 3)
        self.assertIn("navtalk key create", ran.stderr)


if __name__ == "__main__":
    unittest.main()
