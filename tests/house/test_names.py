"""usage: test_names.py ROOT   fails when a test's name would not reach the test program as a name

People run one case by giving its name to the program: one that starts with a dash is taken for an option
(and `--help ...` even passes), one with [ ] for a tag, with ~ or * at its ends for a pattern.
"""

import pathlib
import re
import sys

CASE = re.compile(r'(?:TEST_CASE|STORE_TEST)\(\s*"((?:[^"\\]|\\.)*)"')


def main():
    root = pathlib.Path(sys.argv[1])
    names = [
        (file.relative_to(root), name)
        for file in sorted((root / "tests").rglob("*.cpp"))
        for name in CASE.findall(file.read_text(encoding="utf-8"))
    ]
    bad = [f'{file}: "{name}"' for file, name in names if re.search(r"^[-~*]|\*$|[\[\]]", name)]
    print("\n".join(bad))
    return 1 if bad or not names else 0


sys.exit(main())
