#include "core/files/temporary_folder.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>
#include <optional>

#include "tests/core/expect_error.h"
#include "tests/core/files/scratch_folder.h"

namespace navtalk {
namespace {

TEST_CASE("a temporary folder is its owner's alone, and goes with everything in it") {
  const test::ScratchFolder base;
  std::optional<TemporaryFolder> folder(base.path());
  const std::filesystem::path path = folder->path();
  CHECK(path.parent_path() == base.path());
  struct stat status = {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777U) == 0700);
  std::filesystem::create_directory(path / "inner");
  std::ofstream(path / "inner" / "file") << "x";
  folder.reset();
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("a temporary folder that was removed early is left to whoever has that name next") {
  const test::ScratchFolder base;
  std::optional<TemporaryFolder> folder(base.path());
  const std::filesystem::path path = folder->path();
  std::ofstream(path / "file") << "x";
  folder->remove();
  CHECK_FALSE(std::filesystem::exists(path));
  std::filesystem::create_directory(path);
  folder.reset();
  CHECK(std::filesystem::exists(path));
}

TEST_CASE("a folder whose process was killed is removed, and one that is in use is not") {
  namespace fs = std::filesystem;
  const test::ScratchFolder base;
  const TemporaryFolder used(base.path());
  const fs::path left = base / "navtalk-tmp-abcdef", young = base / "navtalk-tmp-ghijkl",
                 other = base / "navtalk-anything";
  for (const fs::path& folder : {left, young, other}) fs::create_directory(folder);
  std::ofstream(left / "speech") << "x";
  const auto hour_ago = fs::file_time_type::clock::now() - std::chrono::hours(1);
  for (const fs::path& folder : {left, other, used.path()}) fs::last_write_time(folder, hour_ago);
  fs::create_symlink(other, base / "navtalk-tmp-link");
  remove_abandoned_folders(base.path());
  CHECK_FALSE(fs::exists(left));
  CHECK(fs::exists(young));
  CHECK(fs::exists(other));
  CHECK(fs::exists(used.path()));
}

TEST_CASE("a folder that cannot hold a temporary one is named") {
  const test::ScratchFolder base;
  test::expect_error(Code::failed, {"temporary folder", (base / "missing").native()},
                     [&] { TemporaryFolder(base / "missing"); });
}

}  // namespace
}  // namespace navtalk
