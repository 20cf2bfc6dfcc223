"""usage: unity_test.py ROOT   cmake/unity.cmake puts every source of a target into one unit, on a made-up project"""

import pathlib
import re
import subprocess
import sys
import tempfile

PROJECT = """cmake_minimum_required(VERSION 3.25)
project(made_up LANGUAGES NONE)
include({root}/cmake/unity.cmake)
add_subdirectory(library)
"""
LIBRARY = """navtalk_units(compiled made_up {sources} APART odd/apart.cpp)
file(WRITE ${{CMAKE_BINARY_DIR}}/compiled "${{compiled}}")
"""
SMALL = ["top.cpp", "small/one.cpp", "small/two.cpp"]
LARGE = [f"large/source_{i}.cpp" for i in range(21)]
DEEP = ["deep/one.cpp", "deep/below/two.cpp", "deep/below/three.cpp"]


class Project:
    def __init__(self, root, folder):
        self.folder = folder
        self.build = folder / "build"
        (folder / "library").mkdir()
        (folder / "CMakeLists.txt").write_text(PROJECT.format(root=root), encoding="utf-8")

    def configure(self, sources, unity="ON"):
        """What the target compiles: for each file the sources in it."""
        text = LIBRARY.format(sources=" ".join(sources))
        (self.folder / "library/CMakeLists.txt").write_text(text, encoding="utf-8")
        command = ["cmake", "-S", self.folder, "-B", self.build, f"-DNAVTALK_UNITY={unity}"]
        subprocess.run(command, check=True, capture_output=True)
        compiled = (self.build / "compiled").read_text(encoding="utf-8").split(";")
        return {name: self.held_by(name) for name in compiled}

    def held_by(self, name):
        if not name.startswith(str(self.build)):
            return [name]
        text = pathlib.Path(name).read_text(encoding="utf-8")
        return [path.removeprefix("library/") for path in re.findall(r'#include "(.*)"', text)]


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        project = Project(root, pathlib.Path(folder).resolve())
        sources = SMALL + LARGE + DEEP

        assert list(project.configure(sources, "OFF")) == sources + ["odd/apart.cpp"], "without units the list stays"

        units = project.configure(sources)
        held = [source for unit in units.values() for source in unit]
        assert sorted(held) == sorted(sources + ["odd/apart.cpp"]), f"each source once: {held}"
        assert units["odd/apart.cpp"] == ["odd/apart.cpp"], "a source apart is compiled alone"
        assert sorted(units.values()) == sorted([SMALL, LARGE[:7], LARGE[7:14], LARGE[14:], DEEP, ["odd/apart.cpp"]]), units

        times = {name: pathlib.Path(name).stat().st_mtime_ns for name in units if name != "odd/apart.cpp"}
        more = project.configure(sources + ["deep/new.cpp"])
        assert [*DEEP, "deep/new.cpp"] in more.values(), "a new source takes part"
        changed = {name for name, time in times.items() if pathlib.Path(name).stat().st_mtime_ns != time}
        assert changed == {name for name, unit in units.items() if unit == DEEP}, f"other folders' units stay: {changed}"


main()
