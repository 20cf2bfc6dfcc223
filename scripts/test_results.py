"""usage: test_results.py PRESET BUILD FAILURES   prints one line for each test of a preset's run

A line is the result (passed, failed, skipped), a tab, and "PRESET: name". BUILD/junit.xml has ctest's view: the processes.
BUILD/results has a file for each process that ran a file of Catch cases, with a line for each case (tests/main.cpp).
To the file FAILURES the end of what each process printed that failed is added.
"""

import pathlib
import sys
import xml.etree.ElementTree as ElementTree


def result(process):
    if process.find("failure") is not None or process.get("status") == "fail":
        return "failed"
    # A test that ctest could not start also counts as not run; only a skip says why in so many words.
    if process.find("skipped") is not None:
        message = process.find("skipped").get("message", "")
        return "skipped" if message.startswith("SKIP_") else "failed"
    return "passed" if process.get("status") == "run" else "failed"


def cases(record):
    """Results by case, in the order in which they ran. A case that did not end failed."""
    found = {}
    for line in record.read_text(encoding="utf-8", errors="replace").splitlines():
        outcome, name = line.split("\t", 1)
        found[name] = outcome if outcome != "unfinished" else "failed"
    return found


def lines(build):
    for process in ElementTree.parse(build / "junit.xml").getroot().iter("testcase"):
        name = process.get("name")
        binary, _, subject = name.partition(": ")
        record = build / "results" / f"{binary}.{subject}"
        if not record.is_file():
            yield result(process), name
            continue
        found = cases(record)
        for case, outcome in found.items():
            yield outcome, f"{name}: {case}"
        # For instance a leak, or a data race after the last case.
        if result(process) == "failed" and "failed" not in found.values():
            yield "failed", f"{name} (the process failed, no case did)"


def failures(build):
    most_lines, most_bytes = 60, 6000
    for process in ElementTree.parse(build / "junit.xml").getroot().iter("testcase"):
        if result(process) != "failed":
            continue
        printed = (process.findtext("system-out") or "").splitlines()[-most_lines:]
        yield f"{process.get('name')} printed last\n" + "\n".join(printed)[-most_bytes:]


def main():
    preset, build, failures_file = sys.argv[1:]
    build = pathlib.Path(build)
    for outcome, name in lines(build):
        print(f"{outcome}\t{preset}: {name}")
    with open(failures_file, "a", encoding="utf-8") as file:
        for text in failures(build):
            file.write(f"\n{preset}: {text}\n")


main()
