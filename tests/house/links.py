"""usage: links.py ROOT   fails when a Markdown page links to a file that is not there"""

import pathlib
import re
import sys

LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")
LEFT_OUT = {"build", ".git"}


def main():
    root = pathlib.Path(sys.argv[1])
    pages = [page for page in root.rglob("*.md") if page.relative_to(root).parts[0] not in LEFT_OUT]
    broken = [
        f"{page.relative_to(root)}: {target} is not there"
        for page in sorted(pages)
        for target in LINK.findall(page.read_text(encoding="utf-8"))
        if "://" not in target and not (page.parent / target).exists()
    ]
    print("\n".join(broken))
    return 1 if broken or not pages else 0


sys.exit(main())
