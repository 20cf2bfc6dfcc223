// Whom a worker serves, with a token and without one.
#include <catch2/catch.hpp>

#include "server/worker/worker_api.h"
#include "tests/server/worker/running_worker.h"

using namespace navtalk;
using namespace navtalk::tests;

namespace {

const Headers k_token = {{"Authorization", "Bearer sesame"}};

Headers with(Headers headers, const std::string& name, const std::string& value) {
  headers.emplace_back(name, value);
  return headers;
}

nlohmann::json epochs(const Running& worker) {
  return ask("GET", worker.url() + "/healthz").body.at("lease_epochs");
}

}  // namespace

TEST_CASE("a page from elsewhere can neither drain a worker without a token nor open a session") {
  EngineScript script;
  Running worker(script);
  REQUIRE(worker.becomes("idle"));
  const std::string drain = worker.url() + "/v1/drain";
  for (const Headers& foreign :
       {Headers{{"Origin", "https://example.org"}}, Headers{{"Origin", "http://127.evil.com"}},
        Headers{{"Origin", "null"}}, Headers{{"Host", "rebound.example.org"}}}) {
    CHECK(ask("POST", drain, "{}", with(foreign, "Content-Type", "application/json")).status ==
          403);
    CHECK(ask("GET", worker.url() + "/healthz", "", foreign).status == 403);
    CHECK(SocketClient(worker.url(), session("a", 9), foreign).declined_status() == 403);
  }
  // These a page may send without asking first.
  for (const char* const type : {"text/plain", "application/x-www-form-urlencoded", ""}) {
    CHECK(ask("POST", drain, "{}", {{"Content-Type", type}}).status == 415);
  }
  CHECK(worker.becomes("idle"));
  CHECK(epochs(worker) == nlohmann::json({0}));
}

TEST_CASE("programs and pages of its own machine reach a worker without a token") {
  EngineScript script;
  Running worker(script);
  REQUIRE(worker.becomes("idle"));
  for (const Headers& own : {Headers{{"Origin", "http://localhost:8000"}},
                             Headers{{"Host", "localhost"}}, Headers{{"Host", "[::1]:80"}}}) {
    CHECK(ask("GET", worker.url() + "/healthz", "", own).status == 200);
  }
}

TEST_CASE("a request of a foreign page is not a gateway's contact") {
  EngineScript script;
  Running worker(script, {.gateway_timeout = 20s, .first_contact = 300ms});
  const Headers foreign = {{"Origin", "https://example.org"}};
  HttpClient client;
  CHECK(eventually([&] {
    const HttpResult answer = client.send({.url = worker.url() + "/healthz", .headers = foreign});
    return std::holds_alternative<HttpFault>(answer);
  }));
  CHECK(worker.ends());
}

TEST_CASE("a worker with a token serves no page, and no body that a page may send") {
  EngineScript script;
  Running worker(script, {.token = "sesame"});
  const std::string health = worker.url() + "/healthz", drain = worker.url() + "/v1/drain";
  REQUIRE(eventually([&] { return ask("GET", health, "", k_token).status == 200; }));
  for (const char* const origin : {"https://example.org", "http://localhost:8000", "null"}) {
    const Headers page = with(k_token, "Origin", origin);
    CHECK(ask("GET", health, "", page).status == 403);
    CHECK(SocketClient(worker.url(), session("a", 1), page).declined_status() == 403);
  }
  CHECK(ask("POST", drain, "{}", with(k_token, "Content-Type", "text/plain")).status == 415);
  CHECK(ask("GET", health, "", with(k_token, "Host", "gpu.example.org")).status == 200);
}

TEST_CASE("an epoch that no store gives out is refused, and fences nothing") {
  EngineScript script;
  Running worker(script);
  REQUIRE(worker.becomes("idle"));
  const std::string route = "/v1/session?lease=a&slot=0&epoch=";
  for (const char* const epoch :
       {"18446744073709551615", "9223372036854775808", "18446744073709551616", "-1", "%2B1", "1x",
        "1.0", "0x1", "%201", ""}) {
    CHECK(SocketClient(worker.url(), route + epoch).declined_status() == 400);
  }
  CHECK(epochs(worker) == nlohmann::json({0}));
  CHECK(SocketClient(worker.url(), session("b", 1)).connected());
  CHECK(SocketClient(worker.url(), route + "9223372036854775807").connected());
}
