#include "server/http/bearer.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "core/base/error.h"
#include "tests/temporary_directory.h"

using namespace navtalk;
using namespace navtalk::server;

namespace {

Request with_header(const std::string& value) { return {.headers = {{"authorization", value}}}; }

}  // namespace

TEST_CASE("only the whole token, behind Bearer, is taken") {
  CHECK(bears(with_header("Bearer open sesame"), "open sesame"));
  for (const char* const header : {"", "Bearer ", "open sesame", "bearer open sesame",
                                   "Bearer open", "Bearer open sesame2", "Bearer Open sesame"}) {
    INFO(header);
    CHECK_FALSE(bears(with_header(header), "open sesame"));
  }
  CHECK_FALSE(bears({}, "open sesame"));
}

TEST_CASE("a token's file that is missing or empty is a wrong configuration, named") {
  const tests::TemporaryDirectory folder;
  std::ofstream(folder / "blank") << "\n";
  for (const char* const name : {"nowhere", "blank"}) {
    try {
      worker_token(folder / name);
      FAIL("taken");
    } catch (const Error& error) {
      CHECK(error.code() == Code::invalid);
      CHECK_THAT(error.message(), Catch::Contains(name));
    }
  }
}

TEST_CASE("without a token everybody is taken") {
  CHECK(bears({}, ""));
  CHECK(bears(with_header("Bearer whatever"), ""));
}
