"""usage: bucket_test.py TEST_CORE   what test_core does with a bucket, with PyPI's moto, which checks its own way"""

import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "fakes"))
from moto_service import INSTALLED, PATIENCE_S, Moto  # noqa: E402


def main():
    if not INSTALLED:
        print("skipped: PyPI's moto[server] is not installed")
        return 0
    moto = Moto("videos")
    try:
        variables = {**os.environ, "NAVTALK_TEST_S3": moto.url}
        return subprocess.run([sys.argv[1], "[service]"], env=variables, check=False, timeout=PATIENCE_S).returncode
    finally:
        moto.end()


sys.exit(main())
