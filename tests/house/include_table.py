"""usage: include_table.py ROOT   fails when a file includes what docs/architecture.md does not allow it to include

The rules are the two tables of that page, marked `<!-- include-table -->` and `<!-- heavy-headers -->`.
"""

import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)
LINKED = re.compile(r"\bnavtalk::(\w+)")
SOURCE_SUFFIXES = {".h", ".cpp", ".cu", ".cuh"}


def table_after(mark, text):
    """The body rows of the first Markdown table after a mark, as lists of cells."""
    rows = []
    for line in text[text.index(mark) :].splitlines()[1:]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows[2:]


def is_in(path, component):
    return path == component or path.startswith(component + "/")


class Rules:
    """What each component, a folder or a folder's folder, may include. A file follows the longest row that it lies in."""

    def __init__(self, root):
        text = (root / "docs/architecture.md").read_text(encoding="utf-8")
        self.allowed = {}
        for component, others in table_after("<!-- include-table -->", text):
            self.allowed[component] = {name.strip() for name in others.split(",") if name.strip()} | {component}
        self.folders = list(dict.fromkeys(component.split("/")[0] for component in self.allowed))
        self.heavy = [
            prefix
            for _, prefixes in table_after("<!-- heavy-headers -->", text)
            for prefix in re.findall(r"`([^`]+)`", prefixes)
        ]

    def component_of(self, path):
        return max((one for one in self.allowed if is_in(path, one)), key=len, default=path.split("/")[0])

    def allowed_to(self, path):
        """What a file may include. A test may include its folder, and what any component of that folder may."""
        if not path.startswith("tests/"):
            return self.allowed.get(self.component_of(path), set())
        folder = path.split("/")[1]
        return {folder}.union(*(others for component, others in self.allowed.items() if is_in(component, folder)))

    def circle(self):
        """The components of one circle in the table, or nothing."""
        done, way = set(), []

        def visit(component):
            if component in way:
                return way[way.index(component) :] + [component]
            if component in done:
                return None
            way.append(component)
            for other in sorted(self.allowed):
                if other != component and any(is_in(other, name) for name in self.allowed[component] - {component}):
                    found = visit(other)
                    if found:
                        return found
            done.add(way.pop())
            return None

        return next(filter(None, map(visit, sorted(self.allowed))), None)

    def is_heavy(self, include):
        return any(include.startswith(prefix) for prefix in self.heavy)


def source_files(root, folders):
    """Repository paths of all sources, each with the folder whose rules it follows."""
    for folder in folders:
        for place in (folder, f"tests/{folder}"):
            for path in sorted((root / place).rglob("*")):
                if path.suffix in SOURCE_SUFFIXES:
                    yield path.relative_to(root).as_posix(), folder


def edge_faults(files, rules):
    for path, (folder, includes) in files.items():
        allowed = rules.allowed_to(path)
        for line, quote, target in includes:
            top = target.split("/")[0]
            where = f"{path}:{line}: "
            if quote == "<":
                if top in rules.folders:
                    yield f"{where}<{target}> is ours: write it with quotes"
            elif path.startswith("tests/") and target.startswith("tests/"):
                continue
            elif top not in rules.folders:
                yield f'{where}"{target}" does not start at the root with one of our folders'
            elif not any(is_in(target, component) for component in allowed):
                component = folder if path.startswith("tests/") else rules.component_of(path)
                yield f"{where}{component} may not include {rules.component_of(target)} ({target})"


def component_faults(files, rules):
    """Circles in the table, and folders with components that hold a file in none of them."""
    circle = rules.circle()
    if circle:
        yield "docs/architecture.md: the include table has a circle: " + ", ".join(circle)
    for path in files:
        if not path.startswith("tests/") and rules.component_of(path) not in rules.allowed:
            yield f"{path} is in no component of the include table"


def heavy_faults(files, rules):
    """Heavy headers in headers that a file of another folder reaches."""
    for path, (folder, _) in files.items():
        seen, waiting = set(), [path]
        while waiting:
            current = waiting.pop()
            if current in seen or current not in files:
                continue
            seen.add(current)
            owner, includes = files[current]
            for line, quote, target in includes:
                if owner != folder and quote == "<" and rules.is_heavy(target):
                    yield f"{current}:{line}: <{target}> is heavy, and {path} of {folder} reaches it"
                if quote == '"':
                    waiting.append(target)


def link_faults(root, rules):
    """A library is named for its component: navtalk::core, navtalk::media for core/media."""
    named = {path.split("/")[-1]: path for path in rules.allowed} | {folder: folder for folder in rules.folders}
    for folder in rules.folders:
        for file in sorted((root / folder).rglob("CMakeLists.txt")):
            here = file.parent.relative_to(root).as_posix()
            allowed = set()
            for component, others in rules.allowed.items():
                if is_in(component, here) or is_in(here, component):
                    allowed |= others
            for name in sorted(set(LINKED.findall(file.read_text(encoding="utf-8"))) & set(named)):
                if not any(is_in(named[name], other) or is_in(other, named[name]) for other in allowed):
                    yield f"{file.relative_to(root).as_posix()}: {here} may not link navtalk::{name}"


def unlisted_faults(root, rules):
    """Sources that no CMakeLists.txt above them names."""
    for top in [*rules.folders, "tests", "tools", "bench"]:
        for source in sorted((root / top).rglob("*.cpp")):
            folders = [folder for folder in source.parents if (folder / "CMakeLists.txt").is_file()]
            if not any(lists(folder / "CMakeLists.txt", source) for folder in folders):
                yield f"{source.relative_to(root).as_posix()} is in no CMakeLists.txt"


def lists(cmake_file, source):
    name = re.escape(source.relative_to(cmake_file.parent).as_posix())
    text = cmake_file.read_text(encoding="utf-8")
    if re.search(rf"(^|[\s(/]){name}($|[\s)])", text, re.MULTILINE):
        return True
    # A fuzzer is named without its suffix.
    return re.search(rf"navtalk_fuzz\({re.escape(source.stem)}\s", text) is not None


def faults(root):
    """Every fault of the tree under root, as `file:line: what is wrong`."""
    rules = Rules(root)
    files = {}
    for path, folder in source_files(root, rules.folders):
        text = (root / path).read_text(encoding="utf-8")
        files[path] = folder, [
            (text.count("\n", 0, found.start(2)) + 1, found.group(1), found.group(2)) for found in INCLUDE.finditer(text)
        ]
    found = [*edge_faults(files, rules), *component_faults(files, rules), *heavy_faults(files, rules)]
    return sorted({*found, *link_faults(root, rules), *unlisted_faults(root, rules)})


def main():
    found = faults(pathlib.Path(sys.argv[1]))
    for fault in found:
        print(fault)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
