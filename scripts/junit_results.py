"""usage: junit_results.py PREFIX FILE   prints one line for each test in ctest's JUnit file

A line is the result (passed, failed, skipped), a tab, and "PREFIX: name".
"""

import sys
import xml.etree.ElementTree as ElementTree


def result(case):
    if case.find("failure") is not None or case.get("status") == "fail":
        return "failed"
    # A test that ctest could not start also counts as not run; only a skip says why in so many words.
    if case.find("skipped") is not None:
        message = case.find("skipped").get("message", "")
        return "skipped" if message.startswith("SKIP_") else "failed"
    return "passed" if case.get("status") == "run" else "failed"


def main():
    prefix, file = sys.argv[1:]
    for case in ElementTree.parse(file).getroot().iter("testcase"):
        print(f"{result(case)}\t{prefix}: {case.get('name')}")


main()
