#include "core/text/bounded_json.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace navtalk;
using Why = JsonRefusal::Why;

namespace {

std::string nested(std::size_t levels, const std::string& inner = "1") {
  return std::string(levels, '[') + inner + std::string(levels, ']');
}

std::optional<Why> refusal(const std::string& text, JsonBounds bounds) {
  const auto parsed = parse_bounded(text, bounds);
  const auto* refused = std::get_if<JsonRefusal>(&parsed);
  return refused == nullptr ? std::nullopt : std::optional(refused->why);
}

}  // namespace

TEST_CASE("JSON is parsed up to so many levels of objects and arrays, and refused beyond") {
  const JsonBounds three{.bytes = 10'000'000, .levels = 3};
  for (const char* inner : {"1", "\"a\"", "null", "1,2", ""})
    CHECK_FALSE(refusal(nested(3, inner), three));
  CHECK_FALSE(refusal(R"([{"a":{"b":1}},{"c":[2]}])", three));
  CHECK(refusal(nested(3, "[]"), three) == Why::too_deep);
  CHECK(refusal(nested(3, "{}"), three) == Why::too_deep);
  CHECK(refusal(R"({"a":{"b":{"c":{}}}})", three) == Why::too_deep);
  CHECK(refusal(std::string(5'000'000, '['), three) == Why::too_deep);
  CHECK_FALSE(refusal("1", {.bytes = 1, .levels = 0}));
  CHECK(refusal("[]", {.bytes = 2, .levels = 0}) == Why::too_deep);
}

TEST_CASE("JSON of more bytes than allowed is refused before it is looked at") {
  CHECK_FALSE(refusal("[1,2]", {.bytes = 5, .levels = 1}));
  CHECK(refusal("[1,2]", {.bytes = 4, .levels = 1}) == Why::too_large);
  CHECK(refusal("[1,2", {.bytes = 3, .levels = 1}) == Why::too_large);
}

TEST_CASE("what is not JSON is refused with the place") {
  for (const char* text : {"", "{", "[1,]", "{\"a\":1}x", "nul", "\"\xff\""}) {
    const auto parsed = parse_bounded(text, {.bytes = 100, .levels = 4});
    REQUIRE(std::holds_alternative<JsonRefusal>(parsed));
    CHECK(std::get<JsonRefusal>(parsed).why == Why::malformed);
    CHECK_THAT(std::get<JsonRefusal>(parsed).detail, Catch::StartsWith("parse error at "));
  }
}

TEST_CASE("a key that an object has twice counts last, or is refused") {
  const std::string twice = R"({"a":{"b":1},"b":[{"c":1},{"c":2}],"d":1,"a":2})";
  const auto parsed = parse_bounded(twice, {.bytes = 100, .levels = 4});
  REQUIRE(std::holds_alternative<nlohmann::json>(parsed));
  CHECK(std::get<nlohmann::json>(parsed).at("a") == 2);
  const JsonBounds unique{.bytes = 100, .levels = 4, .unique_keys = true};
  const auto refused = parse_bounded(twice, unique);
  REQUIRE(std::holds_alternative<JsonRefusal>(refused));
  CHECK(std::get<JsonRefusal>(refused).why == Why::repeated_key);
  CHECK(std::get<JsonRefusal>(refused).detail == "a");
  CHECK_FALSE(refusal(R"({"a":{"b":1},"b":[{"c":1},{"c":2}],"c":{"a":1,"b":2}})", unique));
  CHECK(refusal(R"([{"a":1},{"x":{"y":1,"y":2}}])", unique) == Why::repeated_key);
}
