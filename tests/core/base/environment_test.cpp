#include "core/base/environment.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>

using namespace navtalk;

namespace {

constexpr const char* k_name = "NAVTALK_TEST_SECRET";

std::size_t count_in_environment() {
  std::size_t count = 0;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (std::strncmp(*entry, k_name, std::strlen(k_name)) == 0) ++count;
  }
  return count;
}

}  // namespace

TEST_CASE("a withdrawn variable is wiped and inherited by nobody, and its value is still known") {
  char entry[] = "NAVTALK_TEST_SECRET=sesame", longer[] = "NAVTALK_TEST_SECRET_FILE=/here";
  ::putenv(entry);
  ::putenv(longer);
  const char* const names[] = {k_name, "NAVTALK_TEST_NOT_SET"};
  withdraw_from_environment(names);
  CHECK(environment_value(k_name) == "sesame");
  CHECK(environment_value("NAVTALK_TEST_NOT_SET").empty());
  CHECK(std::getenv(k_name) == nullptr);
  CHECK(count_in_environment() == 1);  // the longer name
  CHECK(std::string(entry, sizeof entry) ==
        std::string("NAVTALK_TEST_SECRET=") + std::string(7, '\0'));
  CHECK(std::string(longer) == "NAVTALK_TEST_SECRET_FILE=/here");
  ::unsetenv("NAVTALK_TEST_SECRET_FILE");
}

TEST_CASE("a variable that is set again counts more than the withdrawn value") {
  ::setenv(k_name, "first", 1);
  const char* const names[] = {k_name};
  withdraw_from_environment(names);
  ::setenv(k_name, "second", 1);
  CHECK(environment_value(k_name) == "second");
  withdraw_from_environment(names);
  CHECK(environment_value(k_name) == "second");
}
