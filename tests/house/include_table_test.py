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
        self.write("core/CMakeLists.txt", "navtalk_library(core\n  error.cpp\n)")
        self.write("core/error.h", "#include <string>")
        self.write("core/error.cpp", '#include "core/error.h"')

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, encoding="utf-8")

    def assert_fault(self, fault):
        self.assertEqual(include_table.faults(self.root), [fault])

    def test_a_good_tree_has_no_faults(self):
        self.assertEqual(include_table.faults(self.root), [])

    def test_an_upward_include_is_found(self):
        self.write("core/ids.h", '#pragma once\n#include "gpu/device.h"')
        self.assert_fault("core/ids.h:2: core may not include gpu (gpu/device.h)")

    def test_nobody_includes_cmd(self):
        self.write("avatars/box.h", '#  include "cmd/app.h"')
        self.assert_fault("avatars/box.h:1: avatars may not include cmd (cmd/app.h)")

    def test_a_test_follows_the_rules_of_the_folder_that_it_tests(self):
        self.write("tests/core/ids.h", '#include "avatars/bundle.h"')
        self.assert_fault("tests/core/ids.h:1: core may not include avatars (avatars/bundle.h)")

    def test_an_include_beside_the_file_is_found(self):
        self.write("core/ids.h", '#include "error.h"')
        self.assert_fault('core/ids.h:1: "error.h" does not start at the root with one of our folders')

    def test_our_header_in_angle_brackets_is_found(self):
        self.write("gpu/device.h", "#include <core/error.h>")
        self.assert_fault("gpu/device.h:1: <core/error.h> is ours: write it with quotes")

    def test_a_heavy_header_that_another_folder_reaches_through_a_header_is_found(self):
        self.write("gpu/nets/conv.h", "#include <ATen/ATen.h>")
        self.write("gpu/model.h", '#include "gpu/nets/conv.h"')
        self.assertEqual(include_table.faults(self.root), [])
        self.write("avatars/bundle.h", '#include "gpu/model.h"')
        self.assert_fault("gpu/nets/conv.h:1: <ATen/ATen.h> is heavy, and avatars/bundle.h of avatars reaches it")

    def test_an_upward_link_is_found(self):
        self.write("core/CMakeLists.txt", "navtalk_library(core error.cpp)\ntarget_link_libraries(navtalk_core PUBLIC navtalk::gpu)")
        self.assert_fault("core/CMakeLists.txt: core may not link navtalk::gpu")

    def test_a_source_that_no_build_file_names_is_found(self):
        self.write("core/media/terror.cpp", "")
        self.write("core/media/error.cpp", "")
        self.write("core/CMakeLists.txt", "navtalk_library(core error.cpp media/terror.cpp)")
        self.assert_fault("core/media/error.cpp is in no CMakeLists.txt")


if __name__ == "__main__":
    unittest.main()
