"""usage: folder_sizes.py ROOT   fails when a folder shows more sources than a reader can take in

Counted are the files at one level, a source and its header as one, in every folder of C++, CUDA, Python and JavaScript.
"""

import collections
import pathlib
import sys

MOST = 20
SUFFIXES = {".cpp", ".cu", ".h", ".py", ".js"}
LEFT_OUT = {"build", ".git"}


def main():
    root = pathlib.Path(sys.argv[1])
    names = collections.defaultdict(set)
    for path in root.rglob("*"):
        if path.suffix in SUFFIXES and path.relative_to(root).parts[0] not in LEFT_OUT:
            names[path.parent.relative_to(root)].add(path.stem)
    for folder, found in sorted(names.items()):
        if len(found) > MOST:
            print(f"{folder}: {len(found)} sources, at most {MOST} are to be seen at one level: divide the folder")
    return 1 if not names or any(len(found) > MOST for found in names.values()) else 0


sys.exit(main())
