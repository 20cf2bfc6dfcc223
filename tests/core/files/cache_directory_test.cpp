#include "core/files/cache_directory.h"

#include <stdlib.h>

#include <array>
#include <catch2/catch.hpp>
#include <string>
#include <utility>

#include "core/base/environment.h"

using navtalk::cache_directory;
namespace fs = std::filesystem;

namespace {

// The variables that decide, as they were before the test.
class OwnEnvironment {
 public:
  ~OwnEnvironment() {
    for (const auto& [name, value] : before_)
      value.empty() ? ::unsetenv(name) : ::setenv(name, value.c_str(), 1);
  }

  static void set(const char* systemd, const char* xdg, const char* home) {
    ::setenv("CACHE_DIRECTORY", systemd, 1);
    ::setenv("XDG_CACHE_HOME", xdg, 1);
    ::setenv("HOME", home, 1);
  }

 private:
  static std::pair<const char*, std::string> now(const char* name) {
    return {name, navtalk::environment_value(name)};
  }
  const std::array<std::pair<const char*, std::string>, 3> before_{
      now("CACHE_DIRECTORY"), now("XDG_CACHE_HOME"), now("HOME")};
};

}  // namespace

TEST_CASE("the cache lies where systemd says, else where XDG says, else below the home") {
  const OwnEnvironment own;
  own.set("/var/cache/navtalk:/other", "/xdg", "/home/ada");
  CHECK(cache_directory() == fs::path("/var/cache/navtalk"));
  own.set("", "/xdg", "/home/ada");
  CHECK(cache_directory() == fs::path("/xdg/navtalk"));
  own.set("", "", "/home/ada");
  CHECK(cache_directory() == fs::path("/home/ada/.cache/navtalk"));
}

TEST_CASE("a relative XDG_CACHE_HOME is passed over; without a home there is no cache") {
  const OwnEnvironment own;
  own.set("", "here", "/home/ada");
  CHECK(cache_directory() == fs::path("/home/ada/.cache/navtalk"));
  own.set("", "", "");
  CHECK(cache_directory() == std::nullopt);
}
