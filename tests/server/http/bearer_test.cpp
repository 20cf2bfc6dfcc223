#include "server/http/bearer.h"

#include <catch2/catch.hpp>

using namespace navtalk;
using namespace navtalk::server;

namespace {

Request with_header(const std::string& value) { return {.headers = {{"authorization", value}}}; }

}  // namespace

TEST_CASE("a request has the token only if its whole text follows Bearer") {
  CHECK(has_token(with_header("Bearer open sesame"), "open sesame"));
  for (const char* const header : {"", "Bearer ", "open sesame", "bearer open sesame",
                                   "Bearer open", "Bearer open sesame2", "Bearer Open sesame"}) {
    INFO(header);
    CHECK_FALSE(has_token(with_header(header), "open sesame"));
  }
  CHECK_FALSE(has_token({}, "open sesame"));
}

TEST_CASE("without a token every request is accepted") {
  CHECK(has_token({}, ""));
  CHECK(has_token(with_header("Bearer whatever"), ""));
}
