"""usage: units_test.py ROOT   how exposed the systemd units are, as systemd itself judges it without running them"""

import json
import pathlib
import shutil
import subprocess
import sys
import unittest

UNITS = pathlib.Path(sys.argv.pop(1)) / "packaging/systemd"
HIGHEST = 19  # tenths, of systemd's scale from 0 to 10

if shutil.which("systemd-analyze") is None:
    print("skipped: systemd-analyze is not installed")
    sys.exit(0)


def analyze(*arguments):
    command = ["systemd-analyze", "security", "--offline=true", "--no-pager", *arguments]
    return subprocess.run(command, capture_output=True, text=True)


class Units(unittest.TestCase):
    def test_no_service_is_exposed_more_than_it_has_to_be(self):
        services = sorted(UNITS.glob("*.service"))
        self.assertEqual([service.name for service in services], ["navtalk-scale.service", "navtalk.service"])
        for service in services:
            judged = analyze(f"--threshold={HIGHEST}", str(service))
            self.assertEqual(judged.returncode, 0, judged.stdout + judged.stderr)

    def test_what_the_gateway_and_its_workers_need_is_left_to_them(self):
        """Each was given up for a reason that stands in the unit; to take it away breaks the service."""
        found = {row["json_field"] for row in json.loads(analyze("--json=short", str(UNITS / "navtalk.service")).stdout) if not row["set"]}
        for needed in (
            "MemoryDenyWriteExecute",
            "PrivateDevices",
            "PrivateUsers",
            "ProtectProc",
            "ProcSubset",
            "PrivateNetwork",
            "IPAddressDeny",
        ):
            self.assertIn(needed, found)


if __name__ == "__main__":
    unittest.main()
