"""The include check finds every kind of bad edge on a made-up tree, and nothing on a good one."""

import pathlib
import shutil
import tempfile
import unittest

import include_table

ROOT = pathlib.Path(__file__).resolve().parents[2]


class IncludeTable(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        (self.root / "docs").mkdir()
        shutil.copy(ROOT / "docs/architecture.md", self.root / "docs")
        self.write("core/CMakeLists.txt", "navtalk_library(core\n  base/error.cpp\n)")
        self.write("core/base/error.h", "#include <string>")
        self.write("core/base/error.cpp", '#include "core/base/error.h"')

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, encoding="utf-8")

    def assert_fault(self, fault):
        self.assertEqual(include_table.faults(self.root), [fault])

    def test_a_good_tree_has_no_faults(self):
        self.assertEqual(include_table.faults(self.root), [])

    def test_an_upward_include_is_found(self):
        self.write("core/base/ids.h", '#pragma once\n#include "gpu/device/device.h"')
        self.assert_fault("core/base/ids.h:2: core/base may not include gpu/device (gpu/device/device.h)")

    def test_an_include_that_a_room_may_not_make_is_found(self):
        self.write("scheduler/pool/ids.h", '#include "scheduler/scaling/plan.h"')
        self.assert_fault("scheduler/pool/ids.h:1: scheduler/pool may not include scheduler/scaling (scheduler/scaling/plan.h)")

    def test_a_room_may_include_less_than_its_neighbour(self):
        self.write("server/worker/ids.h", '#include "avatars/bundle/bundle.h"')
        self.write("avatars/bundle/bundle.h", "")
        self.assertEqual(include_table.faults(self.root), [])
        self.write("server/gateway/ids.h", '#include "avatars/bundle/bundle.h"')
        self.assert_fault("server/gateway/ids.h:1: server/gateway may not include avatars/bundle (avatars/bundle/bundle.h)")

    def test_only_what_renders_includes_ffmpeg(self):
        self.write("core/media/video.h", "")
        self.write("server/worker/render_engine.h", '#include "core/media/video.h"')
        self.write("avatars/render/render.h", '#include "core/media/video.h"')
        self.assertEqual(include_table.faults(self.root), [])
        for component in (
            *(f"scheduler/{room.name}" for room in (ROOT / "scheduler").iterdir() if room.is_dir()),
            *("runpod", "kubernetes", "server/http", "server/protocol", "cmd"),
            *("server/gateway", "server/gateway/access", "server/gateway/session"),
        ):
            with self.subTest(component):
                file = f"{component}/ids.h"
                self.write(file, '#include "core/media/video.h"')
                self.assert_fault(f"{file}:1: {component} may not include core/media (core/media/video.h)")
                (self.root / file).unlink()

    def test_a_file_outside_all_rooms_is_found(self):
        self.write("scheduler/ids.h", "")
        self.assert_fault("scheduler/ids.h is in no component of the include table")

    def test_a_circle_in_the_table_is_found(self):
        page = self.root / "docs/architecture.md"
        text = page.read_text(encoding="utf-8")
        page.write_text(text.replace("| core/text | |", "| core/text | core/base |"), encoding="utf-8")
        self.assert_fault("docs/architecture.md: the include table has a circle: core/base, core/text, core/base")

    def test_nobody_includes_cmd(self):
        self.write("avatars/bundle/box.h", '#  include "cmd/app.h"')
        self.assert_fault("avatars/bundle/box.h:1: avatars/bundle may not include cmd (cmd/app.h)")

    def test_a_test_follows_the_rules_of_the_folder_that_it_tests(self):
        self.write("tests/core/base/ids.h", '#include "avatars/bundle/bundle.h"')
        self.assert_fault("tests/core/base/ids.h:1: core may not include avatars/bundle (avatars/bundle/bundle.h)")

    def test_an_include_beside_the_file_is_found(self):
        self.write("core/base/ids.h", '#include "error.h"')
        self.assert_fault('core/base/ids.h:1: "error.h" does not start at the root with one of our folders')

    def test_our_header_in_angle_brackets_is_found(self):
        self.write("gpu/device/device.h", "#include <core/base/error.h>")
        self.assert_fault("gpu/device/device.h:1: <core/base/error.h> is ours: write it with quotes")

    def test_a_heavy_header_that_another_folder_reaches_through_a_header_is_found(self):
        self.write("gpu/nets/conv.h", "#include <ATen/ATen.h>")
        self.write("gpu/model/model.h", '#include "gpu/nets/conv.h"')
        self.assertEqual(include_table.faults(self.root), [])
        self.write("avatars/bundle/bundle.h", '#include "gpu/model/model.h"')
        self.assert_fault("gpu/nets/conv.h:1: <ATen/ATen.h> is heavy, and avatars/bundle/bundle.h of avatars reaches it")

    def test_an_upward_link_is_found(self):
        self.write("core/CMakeLists.txt", "navtalk_library(core base/error.cpp)\ntarget_link_libraries(navtalk_core PUBLIC navtalk::gpu)")
        self.assert_fault("core/CMakeLists.txt: core may not link navtalk::gpu")

    def test_a_source_that_no_build_file_names_is_found(self):
        self.write("core/media/terror.cpp", "")
        self.write("core/media/error.cpp", "")
        self.write("core/CMakeLists.txt", "navtalk_library(core base/error.cpp media/terror.cpp)")
        self.assert_fault("core/media/error.cpp is in no CMakeLists.txt")


if __name__ == "__main__":
    unittest.main()
