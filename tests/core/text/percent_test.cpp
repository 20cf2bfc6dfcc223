#include "core/text/percent.h"

#include <catch2/catch.hpp>

namespace navtalk {
namespace {

TEST_CASE("percent-encoding keeps letters, digits and two signs, and encodes every other byte") {
  CHECK(percent_encoded("aZ0-_") == "aZ0-_");
  CHECK(percent_encoded("a/b?c=d&e f%") == "a%2Fb%3Fc%3Dd%26e%20f%25");
  CHECK(percent_encoded("../x") == "%2E%2E%2Fx");
  CHECK(percent_encoded("\xc3\xa9~") == "%C3%A9%7E");
  CHECK(percent_encoded(std::string_view("\0\n", 2)) == "%00%0A");
  CHECK(percent_encoded("").empty());
}

}  // namespace
}  // namespace navtalk
