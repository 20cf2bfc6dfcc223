"""PyPI's moto as a bucket of S3 on loopback, which may end and come back empty."""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

PATIENCE_S = 120


def has_moto(python):
    code = "import sys, importlib.util as u; sys.exit(not (u.find_spec('moto') and u.find_spec('flask')))"
    return subprocess.run([python, "-c", code], check=False).returncode == 0


# The test itself may need another Python than the one that pip filled.
PYTHON = next((python for python in (sys.executable, shutil.which("python3")) if python and has_moto(python)), None)
INSTALLED = PYTHON is not None


class Moto:
    def __init__(self, bucket):
        self.bucket = bucket
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.start()

    def start(self):
        code = f"from moto.server import ThreadedMotoServer as S; import signal; S('127.0.0.1', {self.port}).start(); signal.pause()"
        self.process = subprocess.Popen(
            [PYTHON, "-c", code],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "S3_UPLOAD_PART_MIN_SIZE": "1"},
        )
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                break
            time.sleep(0.05)
        urllib.request.urlopen(urllib.request.Request(f"{self.url}/{self.bucket}", method="PUT"), timeout=30).close()

    def end(self):
        self.process.kill()
        self.process.wait()

    def get(self, key):
        """An object's bytes; None when there is none."""
        try:
            # moto gives a private object to whoever names a key, and checks no signature.
            signed = {"Authorization": "AWS4-HMAC-SHA256 Credential=key/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0"}
            request = urllib.request.Request(f"{self.url}/{self.bucket}/{key}", headers=signed)
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.read()
        except urllib.error.HTTPError as error:
            error.close()
            return None

    def keys(self):
        with urllib.request.urlopen(f"{self.url}/{self.bucket}?list-type=2", timeout=30) as answer:
            text = answer.read().decode()
        return sorted(part.partition("</Key>")[0] for part in text.split("<Key>")[1:])

    @property
    def variables(self):
        return {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_ENDPOINT_URL": self.url, "AWS_REGION": "us-east-1"}
