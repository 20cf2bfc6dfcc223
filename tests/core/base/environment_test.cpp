#include "core/base/environment.h"

#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

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

TEST_CASE("a child's environment lacks what begins with a left-out name, and nothing else") {
  ::setenv("NAVTALK_TEST_A", "a", 1);
  ::setenv("NAVTALK_TEST_AB", "ab", 1);
  ::setenv("NAVTALK_TEST_C1", "c", 1);
  ::setenv("NAVTALK_TEST_C2", "c", 1);
  const auto with = [](std::vector<std::string_view> left_out) {
    std::vector<std::string> ours;
    for (const std::string& variable : environment_without(left_out))
      if (variable.starts_with("NAVTALK_TEST_A") || variable.starts_with("NAVTALK_TEST_C"))
        ours.push_back(variable);
    std::ranges::sort(ours);
    return ours;
  };
  CHECK(with({"NAVTALK_TEST_A=", "NAVTALK_TEST_C"}) ==
        std::vector<std::string>{"NAVTALK_TEST_AB=ab"});
  CHECK(with({}).size() == 4);
  for (const char* name :
       {"NAVTALK_TEST_A", "NAVTALK_TEST_AB", "NAVTALK_TEST_C1", "NAVTALK_TEST_C2"})
    ::unsetenv(name);
}
