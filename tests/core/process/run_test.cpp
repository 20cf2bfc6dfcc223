#include "core/process/run.h"

#include <catch2/catch.hpp>
#include <chrono>

using namespace navtalk;
using namespace std::chrono_literals;

TEST_CASE("a program that takes too long is killed and called late") {
  const auto before = std::chrono::steady_clock::now();
  const auto ran =
      run_program({.command = {"/bin/sh", "-c", "echo begun; exec sleep 60"}, .within = 500ms}, {});
  REQUIRE(ran);
  CHECK(ran->late);
  CHECK(ran->output == "begun\n");
  CHECK(std::chrono::steady_clock::now() - before < 30s);
}

TEST_CASE("a program that ends in time is not late, and has the environment that it is given") {
  const auto ran = run_program({.command = {"/usr/bin/env"},
                                .environment = std::vector<std::string>{"ONLY=this"},
                                .within = 60s},
                               {});
  REQUIRE(ran);
  CHECK_FALSE(ran->late);
  CHECK(ran->exit_status == 0);
  CHECK(ran->output == "ONLY=this\n");
}
