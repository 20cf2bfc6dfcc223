"""usage: sessions.py NAVTALK CONFIG WAV [--sessions N] [--seconds S]   live sessions of a gateway that this starts and ends

Starts `navtalk --config CONFIG serve`, waits until /readyz says that it is ready, and runs `navtalk bench serve --url` with it. The report
is JSON on standard output, two lines of it on standard error, behind what `pool status` says of the GPU meanwhile. Exit status: bench
serve's; 1 where the gateway is not ready within READY_SECONDS or the bench says nothing; 143 where SIGTERM ended this. The gateway has
ended when this ends, and so have its workers, which would go on for a minute.
"""

import argparse
import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

READY_SECONDS = 60
END_SECONDS = 4


class Ended(Exception):
    """SIGTERM came."""


def on_sigterm(_number, _frame):
    raise Ended


@contextlib.contextmanager
def running(command, **more):
    """A process that has ended when this is left."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **more) as process:
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(END_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()


@contextlib.contextmanager
def workers_ended(config):
    """Ends the workers of this configuration when this is left."""
    try:
        yield
    finally:
        for file in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):  # it has ended meanwhile
                words = file.read_bytes().split(b"\0")
                if b"--worker" in words and os.fsencode(config) in words:
                    os.kill(int(file.parent.name), signal.SIGTERM)


def address(gateway):
    """Where it listens, as it says itself."""
    for line in gateway.stdout:
        found = re.search(r"http://[0-9.:]+", line)
        if found:
            return found.group()
    sys.exit("sessions.py: the gateway ended before it listened")


def wait_until_ready(url, gateway):
    deadline = time.monotonic() + READY_SECONDS
    problem = ""
    while gateway.poll() is None and time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(url + "/readyz", timeout=5):
                return
        except urllib.error.HTTPError as error:
            problem = error.read().decode(errors="replace")
        except OSError as error:
            problem = str(error)
        time.sleep(0.2)
    sys.exit(f"sessions.py: the gateway is not ready: {problem.strip()}")


def summary(report):
    pictures, sessions = report["pictures"], report["sessions"]
    yield (f"{sessions['served']} of {sessions['wanted']} sessions served; least session {pictures['per_second']:.2f} pictures a second, "
           f"its worst second {pictures['worst_second']}")
    for row in report["rows"]:
        if row["name"] == "latency":
            yield f"latency {row['median']:.0f} ms in the middle, {row['p95']:.0f} ms p95, {row['p99']:.0f} ms p99"


def tell_of_gpu(command):
    """What the pool says of it while it works; nothing where that takes too long."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        status = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, timeout=20)
        print("\n".join(status.stdout.splitlines()[:2]), file=sys.stderr)


def main():
    arguments = argparse.ArgumentParser()
    for name in ("navtalk", "config", "wav"):
        arguments.add_argument(name)
    arguments.add_argument("--sessions", default="14")
    arguments.add_argument("--seconds", default="10")
    given = arguments.parse_args()
    signal.signal(signal.SIGTERM, on_sigterm)
    try:
        config = os.path.abspath(given.config)
        with workers_ended(config), running([given.navtalk, "--config", config, "serve"]) as gateway:
            url = address(gateway)
            wait_until_ready(url, gateway)
            with running([given.navtalk, "--json", "bench", "serve", "--url", url, "--sessions", given.sessions, "--duration", given.seconds,
                          "--audio", given.wav]) as bench:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    bench.wait(float(given.seconds) * 0.7)
                tell_of_gpu([given.navtalk, "--config", config, "pool", "status"])
                report = bench.stdout.read()
                status = bench.wait()
            if not report.startswith("{"):
                return status or 1
            print(report, end="")
            print("\n".join(summary(json.loads(report))), file=sys.stderr)
            return status
    except Ended:
        return 143


if __name__ == "__main__":
    sys.exit(main())
