#include "core/files/state_directory.h"

#include <stdlib.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "tests/temporary_directory.h"

using namespace navtalk;

namespace {

constexpr const char* k_variables[] = {"STATE_DIRECTORY", "XDG_STATE_HOME", "HOME"};

// Only what a test sets is set.
class Variables {
 public:
  Variables() {
    for (const char* name : k_variables) {
      const char* value = std::getenv(name);
      before_.emplace_back(value == nullptr ? "" : value);
      ::unsetenv(name);
    }
  }
  ~Variables() {
    for (std::size_t i = 0; i < before_.size(); ++i)
      before_[i].empty() ? ::unsetenv(k_variables[i])
                         : ::setenv(k_variables[i], before_[i].c_str(), 1);
  }
  Variables(const Variables&) = delete;
  Variables& operator=(const Variables&) = delete;
  void set(const char* name, const char* value) const { ::setenv(name, value, 1); }

 private:
  std::vector<std::string> before_;
};

}  // namespace

TEST_CASE("the state folder follows systemd, XDG and the home, in this order") {
  const Variables variables;
  CHECK_THROWS(state_directory("/nonexistent"));
  variables.set("HOME", "/home/ada");
  CHECK(state_directory("/nonexistent") == "/home/ada/.local/state/navtalk");
  variables.set("XDG_STATE_HOME", "/state");
  CHECK(state_directory("/nonexistent") == "/state/navtalk");
  variables.set("STATE_DIRECTORY", "/one:/two");
  CHECK(state_directory("/nonexistent") == "/one");
}

TEST_CASE("an operator's commands meet the pool of the service that is there") {
  const Variables variables;
  const tests::TemporaryDirectory service;
  variables.set("HOME", "/home/ada");
  if (::geteuid() == 0) {
    CHECK(state_directory(service.path()) == "/home/ada/.local/state/navtalk");
    std::ofstream(service / "pool.db");
  }
  CHECK(state_directory(service.path()) == service.path());
  variables.set("XDG_STATE_HOME", "/state");
  CHECK(state_directory(service.path()) == "/state/navtalk");
}
