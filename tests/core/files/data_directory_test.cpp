#include "core/files/data_directory.h"

#include <stdlib.h>

#include <catch2/catch.hpp>

#include "core/base/error.h"

TEST_CASE("the data directory of a build tree holds the demo models") {
  ::unsetenv("NAVTALK_DATA_DIR");
  CHECK(
      std::filesystem::exists(navtalk::data_directory() / "demo/models/musetalkV15/musetalk.json"));
}

TEST_CASE("NAVTALK_DATA_DIR decides, and is refused by name when it holds no demo") {
  ::setenv("NAVTALK_DATA_DIR", "/proc", 1);
  try {
    navtalk::data_directory();
    FAIL("accepted a folder without demo/");
  } catch (const navtalk::Error& error) {
    CHECK(error.code() == navtalk::Code::not_found);
    CHECK(error.message().find("NAVTALK_DATA_DIR=/proc") != std::string::npos);
  }
  ::unsetenv("NAVTALK_DATA_DIR");
}
