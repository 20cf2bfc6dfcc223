"""usage: recipe_test.py NAVTALK FAKE_RUNPOD ROOT   "Try it without Runpod" in docs/runpod.md works as written"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM, FAKE, ROOT = (pathlib.Path(word) for word in sys.argv[1:4])
del sys.argv[1:4]
PATIENCE_S = 120
if pathlib.Path("/var/lib/navtalk/pool.db").exists():  # it would be root's, and is none of a test's business
    print("skipped: the service has a pool on this machine")
    sys.exit(0)


class Recipe(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.mkdtemp(prefix="navtalk-recipe-")
        self.addCleanup(lambda: shutil.rmtree(self.home))
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("NAVTALK_")}
        for name in ("STATE_DIRECTORY", "XDG_STATE_HOME", "RUNPOD_API_KEY"):
            self.environment.pop(name, None)
        self.environment["HOME"] = self.home
        self.environment["PATH"] = f"{PROGRAM.parent}:{FAKE.parent}:{self.environment['PATH']}"

    def navtalk(self, line):
        return subprocess.run(
            ["bash", "-c", line], env=self.environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False
        ).stdout

    def test_a_pod_of_the_fake_becomes_ready(self):
        page = (ROOT / "docs/runpod.md").read_text(encoding="utf-8").split("## Try it without Runpod")[1]
        command = re.search(r"```\n(fake_runpod.*?)\n\{", page, re.DOTALL)[1]
        image, gpu_type = re.search(r"\(`([^`]+)`,\s+`\[\"([^\"]+)\"\]`\)", page).groups()
        fake = subprocess.Popen(
            ["bash", "-c", "exec " + command], env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self.addCleanup(fake.wait)
        self.addCleanup(fake.terminate)
        self.addCleanup(fake.stdout.close)
        told = json.loads(fake.stdout.readline())
        self.environment.update(
            RUNPOD_API_KEY="not-a-key",
            NAVTALK_RUNPOD_API_URL=told["api_url"],
            NAVTALK_RUNPOD_PROXY_URL=told["proxy_url"],
            NAVTALK_RUNPOD_IMAGE=image,
            NAVTALK_RUNPOD_GPU_TYPES=gpu_type,
            NAVTALK_POOL_CLOUD="on",
        )
        end = time.monotonic() + PATIENCE_S
        gpus = []
        while time.monotonic() < end:
            self.navtalk("navtalk pool scale")
            gpus = json.loads(self.navtalk("navtalk pool status --json"))["gpus"]
            if any(gpu["state"] == "idle" for gpu in gpus):
                return
        self.fail(f"no pod became ready: {gpus}")


if __name__ == "__main__":
    unittest.main()
