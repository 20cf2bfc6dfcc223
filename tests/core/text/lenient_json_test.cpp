#include "core/text/lenient_json.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace navtalk;

namespace {

const nlohmann::json k_value = *parse_json(R"({
  "text": "a", "number": 1.5, "written": "0.44", "whole": 7, "big": 1e300, "odd": "0.44x", "yes": true,
  "null": null, "object": {"x": 1}, "array": ["a", 1, null, "b"]})");

}  // namespace

TEST_CASE("a JSON field is read as what it is, or not at all") {
  CHECK(text_field(k_value, "text") == "a");
  CHECK(number_field(k_value, "number") == 1.5);
  CHECK(whole_field(k_value, "whole") == 7);
  CHECK(bool_field(k_value, "yes") == true);
  CHECK(object_field(k_value, "object").size() == 1);
  CHECK(texts_field(k_value, "array") == std::vector<std::string>{"a", "b"});

  for (const char* name : {"none", "null", "number", "object"})
    CHECK_FALSE(text_field(k_value, name));
  for (const char* name : {"none", "null", "odd", "text", "array"})
    CHECK_FALSE(number_field(k_value, name));
  for (const char* name : {"number", "big", "null"}) CHECK_FALSE(whole_field(k_value, name));
  CHECK_FALSE(bool_field(k_value, "whole"));
  CHECK(object_field(k_value, "array").empty());
  CHECK(array_field(k_value, "null").empty());
}

TEST_CASE("a number may be written as text") { CHECK(number_field(k_value, "written") == 0.44); }

TEST_CASE("what is not a JSON object has no fields") {
  for (const char* text : {"[]", "3", "null", "\"x\""})
    CHECK_FALSE(text_field(*parse_json(text), "x"));
}

TEST_CASE("broken or bottomless JSON is not JSON") {
  for (const char* text : {"", "<html>", "{", "{} x", "error code: 1010"})
    CHECK_FALSE(parse_json(text));
  CHECK_FALSE(parse_json(std::string(100'000, '[')));
  CHECK_FALSE(parse_json(std::string(65, '[') + std::string(65, ']')));
  CHECK(parse_json(std::string(60, '[') + std::string(60, ']')));
}
