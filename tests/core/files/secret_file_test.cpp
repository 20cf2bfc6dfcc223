#include "core/files/secret_file.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>

#include "tests/core/expect_error.h"
#include "tests/temporary_directory.h"

using namespace navtalk;

namespace {

constexpr SecretKind k_kind{.name = "traces' authorization", .variable = "NAVTALK_TEST_SECRET"};

}  // namespace

TEST_CASE("a secret with a line break or another control character is refused, and never told") {
  const tests::TemporaryDirectory folder;
  const std::string secret = GENERATE("sesame\nX-Tenant: 7", "sesame\r7", "sesame\x01");
  ::setenv(k_kind.variable, secret.c_str(), 1);
  std::string message;
  try {
    read_secret(k_kind, {});
  } catch (const Error& error) {
    message = error.message();
  }
  ::unsetenv(k_kind.variable);
  CHECK_THAT(message, Catch::Contains("NAVTALK_TEST_SECRET") && !Catch::Contains("sesame"));
}

TEST_CASE("of a secret's file the first line counts, without white space at its ends") {
  const tests::TemporaryDirectory folder;
  const std::filesystem::path file = folder / "secret";
  std::ofstream(file) << " sesame \r\nsecond line\n";
  CHECK(read_secret(k_kind, file) == "sesame");
  std::ofstream(file) << "ses\tame\n";
  CHECK_THROWS_AS(read_secret(k_kind, file), Error);
}
