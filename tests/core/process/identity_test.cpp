#include "core/process/identity.h"

#include <catch2/catch.hpp>

using namespace navtalk;

namespace {

// This process, with `part` of its name exchanged.
std::string instead(const std::string& part, const std::string& with) {
  std::string name = this_process();
  const std::size_t at = name.find(part);
  REQUIRE(at != std::string::npos);
  return name.replace(at, part.size(), with);
}

std::string pid_and_start() {
  const std::string name = this_process();
  return name.substr(name.rfind('/', name.rfind('/') - 1));
}

}  // namespace

TEST_CASE("a process of this machine that is gone is dead, a living one is not") {
  CHECK_FALSE(is_dead(this_process()));
  CHECK(is_dead(instead(pid_and_start(), "/99999999/1")));
}

TEST_CASE("processes of other machines and containers are apart, those of this one are not") {
  const std::string boot = this_process().substr(host_name().size() + 1, 8);
  CHECK(are_apart(this_process(), instead(boot, "00000000")));
  CHECK(are_apart(instead(pid_and_start(), "9/99999999/1"), this_process()));
  CHECK_FALSE(are_apart(this_process(), instead(pid_and_start(), "/99999999/1")));
  for (const char* text : {"", "nonsense", "/1", "a/1"}) {
    CAPTURE(text);
    CHECK_FALSE(are_apart(this_process(), text));
    CHECK_FALSE(are_apart(text, this_process()));
  }
}

TEST_CASE(
    "of a process on another machine of this name, or in another container, nobody can tell") {
  const std::string boot = this_process().substr(host_name().size() + 1, 8);
  for (const std::string& elsewhere :
       {instead(boot, "00000000"), instead(pid_and_start(), "9/99999999/1"),
        instead(host_name(), "another")}) {
    CAPTURE(elsewhere);
    std::string dead = elsewhere;
    dead.replace(dead.rfind('/', dead.rfind('/') - 1), std::string::npos, "/99999999/1");
    CHECK_FALSE(is_dead(dead));
  }
  CHECK_FALSE(is_dead(""));
  CHECK_FALSE(is_dead("nonsense"));
}
