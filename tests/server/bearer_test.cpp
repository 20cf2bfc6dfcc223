#include "server/bearer.h"

#include <catch2/catch.hpp>

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

TEST_CASE("without a token everybody is taken") {
  CHECK(bears({}, ""));
  CHECK(bears(with_header("Bearer whatever"), ""));
}
