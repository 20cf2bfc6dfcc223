"""usage: messages.py ROOT   fails when docs/troubleshooting.md quotes a message that no source has"""

import pathlib
import re
import sys

LIBRARIES = ("core", "gpu", "avatars", "scheduler", "kubernetes", "runpod", "server", "cmd")
QUOTED = re.compile(r"^\| `(.+?)` \|", re.MULTILINE)  # the first column of its tables
SHORTEST = 6  # characters of a fragment between two "..." that say something


def source_text(root):
    """All sources, with string literals that stand side by side joined to one."""
    files = (file for library in LIBRARIES for suffix in ("h", "cpp") for file in (root / library).rglob(f"*.{suffix}"))
    text = "\n".join(file.read_text(encoding="utf-8") for file in sorted(files))
    return re.sub(r'"\s*\n\s*"', "", text).replace('\\"', '"')


def fragments(message):
    parts = (part.strip(" :'\"") for part in message.split("..."))
    return [part for part in parts if len(part) >= SHORTEST]


def main():
    root = pathlib.Path(sys.argv[1])
    sources = source_text(root)
    messages = QUOTED.findall((root / "docs/troubleshooting.md").read_text(encoding="utf-8"))
    stale = [
        f'docs/troubleshooting.md: no source says "{part}"'
        for message in messages
        for part in fragments(message)
        if part not in sources
    ]
    print("\n".join(stale))
    return 1 if stale or not messages else 0


sys.exit(main())
