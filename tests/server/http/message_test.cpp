#include "server/http/message.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace navtalk;
using namespace navtalk::server;

TEST_CASE("a request's target becomes a path and a query, percent-decoded") {
  Request request;
  REQUIRE(parse_target("/v1/a%20b/%41?x=1&y=a+b%26c&empty=&flag#ignored", request));
  CHECK(request.path == "/v1/a b/A");
  CHECK(request.parameter("x") == "1");
  CHECK(request.parameter("y") == "a b&c");
  CHECK(request.parameter("empty") == "");
  CHECK(request.parameter("flag") == "");
  CHECK_FALSE(request.parameter("z"));
}

TEST_CASE("a malformed target is refused") {
  const auto* const target =
      GENERATE("", "v1", "/a%", "/a%4", "/a%zz", "/%00", "/?x=%g0", "http://host/");
  Request request;
  CHECK_FALSE(parse_target(target, request));
}

TEST_CASE("a body is a JSON object, and an empty body an empty one") {
  Request request;
  CHECK(json_body(request).empty());
  request.body = R"({"a": 1})";
  CHECK(json_body(request).at("a") == 1);
  request.body = GENERATE("[1]", "{", "1", "null", "nonsense");
  CHECK_THROWS_AS(json_body(request), Error);
}

TEST_CASE("a body that has a member twice, or is nested deeply, is refused with the reason") {
  Request request;
  request.body = R"({"a":1,"b":{"a":2}})";
  CHECK(json_body(request).at("a") == 1);
  request.body = R"({"a":1,"b":2,"a":3})";
  CHECK_THROWS_WITH(json_body(request), Catch::Contains("has the member 'a' twice"));
  request.body = R"({"a":{"b":1,"b":1}})";
  CHECK_THROWS_WITH(json_body(request), Catch::Contains("has the member 'b' twice"));
  request.body = R"({"a":)" + std::string(100'000, '[') + std::string(100'000, ']') + "}";
  CHECK_THROWS_WITH(json_body(request), Catch::Contains("deeper than 16 levels"));
}

TEST_CASE("an error's answer has its code's HTTP status") {
  const Response response = error_response(Error(Code::not_found, "there is no such thing"));
  CHECK(response.status == 404);
  CHECK(nlohmann::json::parse(response.body) ==
        nlohmann::json::parse(
            R"({"error":{"code":"not_found","message":"there is no such thing"}})"));
}
