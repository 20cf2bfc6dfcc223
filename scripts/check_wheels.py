"""usage: check_wheels.py DIR NAME==VERSION...   exit status 0 when DIR holds every file of these unpacked wheels

The wheels' own RECORD files say which files there are and how large; scripts that pip rewrites on
installation, and compiled Python, are left out.
"""

import csv
import pathlib
import sys


def faults(directory, wheel):
    name, version = wheel.split("==")
    info = directory / f"{name.replace('-', '_')}-{version}.dist-info"
    if not (info / "RECORD").is_file():
        return [f"{info.name}/RECORD is missing"]
    found = []
    with open(info / "RECORD", newline="", encoding="utf-8") as record:
        for path, _, size in csv.reader(record):
            if path.startswith("..") or path.endswith(".pyc") or not size:
                continue
            file = directory / path
            if not file.is_file():
                found.append(f"{path} is missing")
            elif file.stat().st_size != int(size):
                found.append(f"{path} has {file.stat().st_size} bytes instead of {size}")
    return found


def main():
    directory = pathlib.Path(sys.argv[1])
    found = [fault for wheel in sys.argv[2:] for fault in faults(directory, wheel)]
    for fault in found[:10]:
        print(f"{directory}: {fault}")
    return 1 if found else 0


sys.exit(main())
