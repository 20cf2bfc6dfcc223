#include "scheduler/health/worker_token.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>

#include "core/base/error.h"
#include "tests/temporary_directory.h"

using namespace navtalk;

namespace {

// NAVTALK_WORKER_TOKEN while it lives; unset where `value` is null.
class Variable {
 public:
  explicit Variable(const char* value) {
    ::unsetenv("NAVTALK_WORKER_TOKEN");
    if (value != nullptr) ::setenv("NAVTALK_WORKER_TOKEN", value, 1);
  }
  ~Variable() { ::unsetenv("NAVTALK_WORKER_TOKEN"); }
};

}  // namespace

TEST_CASE("the variable overrides the worker token's file, for every process alike") {
  const tests::TemporaryDirectory folder;
  std::ofstream(folder / "token") << "of the file\n";
  const auto missing = GENERATE(MissingSecret::refuse, MissingSecret::create);
  {
    const Variable variable("of the variable");
    CHECK(worker_token(folder / "token", missing) == "of the variable");
    CHECK(worker_token(folder / "nowhere", missing) == "of the variable");
    CHECK(worker_token({}, missing) == "of the variable");
  }
  for (const char* const unset : {static_cast<const char*>(nullptr), "", " \n"}) {
    const Variable variable(unset);
    CHECK(worker_token(folder / "token", missing) == "of the file");
    CHECK(worker_token({}, missing).empty());
  }
  CHECK_FALSE(std::filesystem::exists(folder / "nowhere"));
}

TEST_CASE("a worker token is one line without the white space around it") {
  const tests::TemporaryDirectory folder;
  std::ofstream(folder / "token") << " sesame \r\na second line\n";
  const Variable none(nullptr);
  CHECK(worker_token(folder / "token") == "sesame");
  const Variable variable("sesame\n");
  CHECK(worker_token({}) == "sesame");
}

TEST_CASE("a worker token's file that is missing or empty is a wrong configuration, named") {
  const tests::TemporaryDirectory folder;
  const Variable none(nullptr);
  std::ofstream(folder / "blank") << "\n";
  for (const char* const name : {"nowhere", "blank"}) {
    INFO(name);
    try {
      worker_token(folder / name);
      FAIL("taken");
    } catch (const Error& error) {
      CHECK(error.code() == Code::invalid);
      CHECK_THAT(error.message(), Catch::Contains(name));
    }
  }
}

TEST_CASE("a created worker token is for its owner alone, and the next reader gets the same one") {
  const tests::TemporaryDirectory folder;
  const Variable none(nullptr);
  const auto file = folder / "state" / "worker-token";
  const std::string token = worker_token(file, MissingSecret::create);
  CHECK(token.size() == 64);
  CHECK(worker_token(file, MissingSecret::create) == token);
  CHECK(worker_token(file) == token);
  struct stat status {};
  REQUIRE(::stat(file.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
}
