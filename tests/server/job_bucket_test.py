"""usage: job_bucket_test.py NAVTALK   gateways without a common folder share videos through a bucket, which may be away"""

import json
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import unittest
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "fakes"))
from moto_service import INSTALLED, Moto  # noqa: E402
from patience import PATIENCE_S, eventually  # noqa: E402
from serve_process import PROGRAM, Process  # noqa: E402
from speech_file import record  # noqa: E402
from worker_processes import new_folder, worker_processes  # noqa: E402

SPEECH_S = 45  # at one frame a second: five segments of ten seconds
MONTH_US = 31 * 24 * 3600 * 1_000_000

if not INSTALLED:
    print("skipped: PyPI's moto[server] is not installed")
    sys.exit(0)


class JobBucket(unittest.TestCase):
    def setUp(self):
        self.moto = Moto("videos")
        self.addCleanup(lambda: self.moto.end())
        self.folder = pathlib.Path(new_folder("navtalk-bucket-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.gateways = []
        self.addCleanup(self.clean)
        self.one = self.gateway("one")

    def gateway(self, name):
        self.gateways.append(
            Process(
                "--listen", "127.0.0.1:0", "--drain-s", "1", folder=str(self.folder),
                NAVTALK_JOBS_BUCKET="s3://videos/jobs", NAVTALK_JOBS_FOLDER=str(self.folder / name), **self.moto.variables,
            )
        )
        return self.gateways[-1]

    def clean(self):
        for gateway in self.gateways:
            gateway.end(signal.SIGKILL)
        for pid in worker_processes(str(self.folder)):
            os.kill(pid, signal.SIGKILL)

    def done(self, text):
        job = {"avatar": "ada", "text": text, "output": {"width": 64, "fps": 5}}
        status, body = self.one.ask("POST", "/v1/jobs", job)
        self.assertEqual(status, 202, body)
        return self.over(self.one, json.loads(body))

    def over(self, gateway, job):
        def ended():
            now = json.loads(gateway.ask("GET", f"/v1/jobs/{job['id']}")[1])
            return now if now["state"] in ("done", "failed", "dead", "cancelled") else None

        over = eventually(ended, "the job is over")
        self.assertEqual((over["state"], over["attempts"]), ("done", 1), over)
        return over

    def submit_speech(self, seconds):
        speech = self.folder / "speech.wav"
        record(speech, seconds)
        variables = {name: value for name, value in os.environ.items() if not name.startswith("NAVTALK_")}
        command = [PROGRAM, "--json", "job", "submit", "--avatar", "ada", "--audio", speech, "--fps", "1", "--size", "64", "--url", self.one.url]
        ran = subprocess.run(command, capture_output=True, text=True, env=variables, check=False, timeout=PATIENCE_S)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return json.loads(ran.stdout)

    def fetch(self, gateway, path, **headers):
        with urllib.request.urlopen(urllib.request.Request(gateway.url + path, headers=headers), timeout=PATIENCE_S) as answer:
            return answer.status, dict(answer.headers), answer.read()

    def answer(self, gateway, path):
        try:
            return self.fetch(gateway, path)[2]
        except urllib.error.HTTPError as error:
            error.close()
            return None

    def videos_of(self, job):
        return [key for key in self.moto.keys() if key.startswith(f"jobs/{job['id']}/")]

    def local(self, job):
        """The gateways whose folders have the job's video: either may have rendered it."""
        return [gateway for gateway, name in zip(self.gateways, ("one", "two")) if list((self.folder / name).glob(f"{job['id']}/video.*"))]

    def test_another_gateway_goes_on_with_speech_and_segments_from_the_bucket(self):
        job = self.submit_speech(SPEECH_S)
        # The second one is begun when the first one is recorded.
        eventually(lambda: f"jobs/{job['id']}/segments/000001.mp4" in self.moto.keys(), "two segments are in the bucket")
        first = self.moto.get(f"jobs/{job['id']}/segments/000000.mp4")
        self.one.end(signal.SIGKILL)
        shutil.rmtree(self.folder / "one")
        two = self.gateway("two")
        here = self.folder / "two" / job["id"] / "segments" / "000000.mp4"
        eventually(here.exists, "the other gateway has the first segment")
        self.assertEqual(here.read_bytes(), first)
        over = self.over(two, job)
        self.assertEqual(over["result"]["frames"], SPEECH_S)
        self.assertEqual(len(self.fetch(two, over["result"]["url"])[2]), over["result"]["bytes"])
        log = (self.folder / "log").read_text(encoding="utf-8")
        self.assertNotIn("it is rendered again", log)

    def test_videos_are_in_the_bucket_for_every_gateway_until_they_are_too_old(self):
        job = self.done("Hello.")
        self.assertEqual(self.local(job), [])
        eventually(lambda: len(self.videos_of(job)) == 1, "only the result is left in the bucket")
        stored = self.moto.get(self.videos_of(job)[0])
        self.assertEqual(len(stored), job["result"]["bytes"])
        two = self.gateway("two")
        path = job["result"]["url"]
        status, headers, whole = self.fetch(two, path)
        self.assertEqual((status, whole, headers["Content-Type"]), (200, stored, "video/mp4"))
        status, headers, part = self.fetch(two, path, Range="bytes=100-199")
        self.assertEqual((status, part), (206, stored[100:200]))
        self.assertEqual(headers["Content-Range"], f"bytes 100-199/{len(stored)}")
        self.assertEqual(self.fetch(two, path, Range="bytes=-10")[2], stored[-10:])
        self.assertEqual(self.fetch(self.one, job["result"]["link"])[2], stored)
        with self.assertRaises(urllib.error.HTTPError) as current:
            self.fetch(two, path, **{"If-None-Match": headers["ETag"]})
        self.assertEqual(current.exception.code, 304)

        # A bucket that is away costs no job: the video stays where it came, and goes there later.
        self.moto.end()
        later = self.done("Later.")
        self.assertEqual(len(self.local(later)), 1)
        holder = self.local(later)[0]
        other = next(gateway for gateway in self.gateways if gateway is not holder)
        kept = self.fetch(holder, later["result"]["url"])[2]
        self.assertEqual(len(kept), later["result"]["bytes"])
        status, _ = other.ask("GET", path)
        self.assertEqual(status, 503)
        self.moto.start()  # and has lost what it had
        eventually(lambda: not self.local(later), "the video is in the bucket")
        # The other gateway leaves a bucket that did not answer alone for ten seconds.
        eventually(lambda: self.answer(other, later["result"]["url"]) == kept, "the other gateway has the video, too")
        eventually(lambda: two.ask("GET", path)[0] == 404, "a video that the bucket has lost is gone")

        store = sqlite3.connect(self.folder / "pool.db", timeout=PATIENCE_S)
        with store:
            store.execute("UPDATE jobs SET changed_at = changed_at - ?", (MONTH_US,))
        store.close()
        eventually(lambda: self.moto.keys() == [], "old videos are removed")
        eventually(lambda: self.one.ask("GET", f"/v1/jobs/{later['id']}")[0] == 404, "old jobs are forgotten")


if __name__ == "__main__":
    unittest.main()
