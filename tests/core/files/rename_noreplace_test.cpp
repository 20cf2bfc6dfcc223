#include "core/files/rename_noreplace.h"

#include <fcntl.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <fstream>

#include "core/base/unique_fd.h"
#include "tests/temporary_directory.h"

namespace fs = std::filesystem;
using namespace navtalk;

// The kernel's way and the one for file systems without it keep the same promises.
TEST_CASE("renaming without replacing") {
  const auto rename = GENERATE(&rename_noreplace, &rename_by_claim);
  const navtalk::tests::TemporaryDirectory top;
  const UniqueFd directory(open(top.path().c_str(), O_RDONLY | O_DIRECTORY));
  const auto write = [&](const char* name) { std::ofstream(top / name) << name; };
  const auto read = [&](const char* name) {
    std::string text;
    std::ifstream(top / name) >> text;
    return text;
  };

  SECTION("moves a file") {
    write("a");
    CHECK(rename(directory.value(), "a", "b") == 0);
    CHECK(read("b") == "a");
    CHECK_FALSE(fs::exists(top / "a"));
  }
  SECTION("moves a folder with its contents") {
    fs::create_directory(top / "a");
    write("a/inside");
    CHECK(rename(directory.value(), "a", "b") == 0);
    CHECK(read("b/inside") == "a/inside");
    CHECK_FALSE(fs::exists(top / "a"));
  }
  SECTION("moves a symbolic link, not what it names") {
    fs::create_symlink("nowhere", top / "a");
    CHECK(rename(directory.value(), "a", "b") == 0);
    CHECK(fs::read_symlink(top / "b") == "nowhere");
    CHECK_FALSE(fs::is_symlink(top / "a"));
  }
  SECTION("leaves both when a file is in the way") {
    write("a");
    write("b");
    CHECK(rename(directory.value(), "a", "b") == EEXIST);
    CHECK(read("a") == "a");
    CHECK(read("b") == "b");
  }
  SECTION("leaves both when an empty folder is in the way") {
    fs::create_directory(top / "a");
    fs::create_directory(top / "b");
    CHECK(rename(directory.value(), "a", "b") == EEXIST);
    CHECK(fs::exists(top / "a"));
  }
  SECTION("says when there is nothing to rename") {
    CHECK(rename(directory.value(), "a", "b") == ENOENT);
    CHECK_FALSE(fs::exists(top / "b"));
  }
}
