#include "runpod/api/api_key.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "tests/core/expect_error.h"
#include "tests/temporary_directory.h"

using namespace navtalk;
using namespace navtalk::runpod;
using test::expect_error;

namespace {

std::filesystem::path written(const tests::TemporaryDirectory& folder, const std::string& text) {
  const std::filesystem::path file = folder / "key";
  std::ofstream(file) << text;
  return file;
}

// RUNPOD_API_KEY for one test.
class Variable {
 public:
  explicit Variable(const char* value) { ::setenv("RUNPOD_API_KEY", value, 1); }
  ~Variable() { ::unsetenv("RUNPOD_API_KEY"); }
};

}  // namespace

TEST_CASE("the API key is the file's first line") {
  const tests::TemporaryDirectory folder;
  const Variable other("other");
  CHECK(read_api_key(written(folder, "not-a-key\r\n# a note\n")).bearer() == "Bearer not-a-key");
}

TEST_CASE("without a file the API key comes from RUNPOD_API_KEY") {
  const Variable variable("from-variable");
  CHECK(read_api_key("").bearer() == "Bearer from-variable");
}

TEST_CASE("a missing or broken API key is reported without its text") {
  const tests::TemporaryDirectory folder;
  ::unsetenv("RUNPOD_API_KEY");
  expect_error(Code::invalid, {"RUNPOD_API_KEY"}, [] { read_api_key(""); });
  expect_error(Code::invalid, {"nowhere"}, [&] { read_api_key(folder / "nowhere"); });
  expect_error(Code::invalid, {"key"}, [&] { read_api_key(written(folder, "\nx")); });
  const Error error = test::error_of([&] { read_api_key(written(folder, "hidden hidden")); });
  CHECK(error.code() == Code::invalid);
  CHECK_THAT(error.message(), !Catch::Contains("hidden"));
}

TEST_CASE("the API key is struck from what a server quotes") {
  CHECK(ApiKey("abc").struck_from("no abc, abcabc") == "no [key], [key][key]");
  CHECK(ApiKey("key").struck_from("key") == "[key]");
  CHECK(ApiKey("").struck_from("text") == "text");
}
