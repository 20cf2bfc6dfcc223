#include "core/net/webhook.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cstring>

#include "core/base/guarded.h"
#include "core/net/public_address.h"
#include "core/text/number.h"
#include "tests/core/expect_error.h"
#include "tests/fakes/loopback_server.h"

using namespace navtalk;
using namespace std::chrono_literals;
using tests::Connection;
using tests::LoopbackServer;
using tests::ReceivedRequest;

namespace {

bool is_public_text(const char* text) {
  sockaddr_storage storage{};
  sockaddr_in four{};
  four.sin_family = AF_INET;
  sockaddr_in6 six{};
  six.sin6_family = AF_INET6;
  socklen_t length = sizeof(four);
  if (inet_pton(AF_INET, text, &four.sin_addr) == 1) {
    std::memcpy(&storage, &four, sizeof(four));
  } else {
    REQUIRE(inet_pton(AF_INET6, text, &six.sin6_addr) == 1);
    std::memcpy(&storage, &six, sizeof(six));
    length = sizeof(six);
  }
  return is_public(reinterpret_cast<const sockaddr&>(storage), length);
}

// Answers with a script's status, one after the other, and keeps what came.
class Endpoint {
 public:
  explicit Endpoint(int status, std::vector<std::pair<std::string, std::string>> headers = {})
      : server_([this, status, headers](Connection& client, const ReceivedRequest& request) {
          seen_.with([&](auto& seen) { seen.push_back(request); });
          client.answer(status, "{}", headers);
        }) {}

  std::string url() const { return server_.url("/hook"); }
  std::vector<ReceivedRequest> seen() {
    return seen_.with([](const auto& seen) { return seen; });
  }

 private:
  Guarded<std::vector<ReceivedRequest>> seen_;
  LoopbackServer server_;
};

const WebhookMessage k_event{.id = "event-7", .type = "gpu.failed", .body = "{\"gpu\":\"g\"}"};

}  // namespace

TEST_CASE("a webhook's signature is the HMAC of time, id and body") {
  // openssl dgst -sha256 -hmac secret, of 1700000000.event-7.{"gpu":"g"}
  CHECK(webhook_signature("secret", 1700000000, k_event) ==
        "t=1700000000,v1=23bc8f13a282c62ac2a03fcca030c045a4ad47349169f0ed22acdcb3325b8319");
  WebhookMessage other = k_event;
  other.body += " ";
  CHECK(webhook_signature("secret", 1700000000, other) !=
        webhook_signature("secret", 1700000000, k_event));
}

TEST_CASE("a webhook's message arrives whole, and its signature is that of what arrived") {
  Endpoint endpoint(204);
  WebhookSender sender;
  const WebhookTarget target{.url = endpoint.url(), .secret = "secret", .allow_private = true};
  const WebhookResult result = sender.send(target, k_event);
  CAPTURE(result.why);
  CHECK(result.delivered);
  const auto seen = endpoint.seen();
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].method == "POST");
  CHECK(seen[0].path == "/hook");
  CHECK(seen[0].body == k_event.body);
  CHECK(seen[0].header("content-type") == "application/json");
  CHECK(seen[0].header("navtalk-event-id") == "event-7");
  CHECK(seen[0].header("navtalk-event-type") == "gpu.failed");
  const std::string signature = seen[0].header("navtalk-signature");
  REQUIRE(signature.starts_with("t="));
  std::string_view rest = std::string_view(signature).substr(2);
  const auto at = take_number<std::int64_t>(rest);
  REQUIRE(at);
  CHECK(signature == webhook_signature("secret", *at, k_event));
}

TEST_CASE("every answer but 2xx means that a webhook's message is to be sent again") {
  const auto row = GENERATE(table<int, bool>({{200, true},
                                              {202, true},
                                              {301, false},
                                              {400, false},
                                              {410, false},
                                              {429, false},
                                              {500, false}}));
  Endpoint endpoint(std::get<0>(row), {{"Retry-After", "17"}, {"Location", "http://127.0.0.1:1/"}});
  WebhookSender sender;
  const WebhookResult result =
      sender.send({.url = endpoint.url(), .secret = "s", .allow_private = true}, k_event);
  CHECK(result.delivered == std::get<1>(row));
  CHECK(endpoint.seen().size() == 1);
  if (result.delivered) return;
  CHECK(result.why == "HTTP " + std::to_string(std::get<0>(row)));
  CHECK(result.retry_after == 17s);
}

TEST_CASE("a webhook's message is delivered by a 2xx, however long its body and however it ends") {
  const bool ends = GENERATE(true, false);
  CAPTURE(ends);
  std::atomic<std::size_t> taken = 0;
  const LoopbackServer server([&](Connection& client, const ReceivedRequest&) {
    client.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n");
    if (ends) {
      client.send("only this");
      return client.close();
    }
    const std::string piece(1 << 20, 'x');
    while (client.send(piece)) taken += piece.size();
  });
  WebhookSender sender;
  const WebhookResult result =
      sender.send({.url = server.url("/"), .secret = "s", .allow_private = true}, k_event);
  CAPTURE(result.why);
  CHECK(result.delivered);
  CHECK(taken < 500'000'000);
}

TEST_CASE("a webhook never reaches an address of this machine unless it may") {
  Endpoint endpoint(200);
  WebhookSender sender;
  std::string by_name = endpoint.url();
  by_name.replace(by_name.find("127.0.0.1"), 9, "localhost");
  for (const std::string& url : {endpoint.url(), by_name}) {
    const WebhookResult result = sender.send({.url = url, .secret = "s"}, k_event);
    CHECK_FALSE(result.delivered);
    CHECK_THAT(result.why, Catch::Contains("its address is not a public one"));
  }
  CHECK(endpoint.seen().empty());
}

TEST_CASE("a webhook that cannot be reached says so without its secret") {
  std::string dead;
  {
    dead = LoopbackServer([](Connection&, const ReceivedRequest&) {}).url("/");
  }
  WebhookSender sender;
  const WebhookResult result =
      sender.send({.url = dead, .secret = "geheim", .allow_private = true}, k_event);
  CHECK_FALSE(result.delivered);
  CHECK_FALSE(result.why.empty());
  CHECK(result.why.find("geheim") == std::string::npos);
  test::expect_error(Code::invalid, {"secret"}, [&] { sender.send({.url = dead}, k_event); });
}

TEST_CASE("a webhook's attempts are ever further apart, up to a bound") {
  CHECK(webhook_delay(1) == 5s);
  CHECK(webhook_delay(2) == 10s);
  CHECK(webhook_delay(5) == 80s);
  CHECK(webhook_delay(8) == 600s);
  CHECK(webhook_delay(1'000'000) == 600s);
  CHECK(webhook_delay(1, 60s) == 60s);
  CHECK(webhook_delay(6, 10s) == 160s);
  CHECK(webhook_delay(1, 100h) == 1h);
}

TEST_CASE("addresses of the public internet are told from all others") {
  for (const char* address : {"8.8.8.8", "172.15.0.1", "172.32.0.1", "100.63.0.1", "192.167.1.1",
                              "223.255.255.1", "2001:4860:4860::8888", "2a00:1450::1",
                              "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1"}) {
    CAPTURE(address);
    CHECK(is_public_text(address));
  }
  for (const char* address : {"0.0.0.0",
                              "10.1.2.3",
                              "100.64.0.1",
                              "127.0.0.1",
                              "127.9.9.9",
                              "169.254.169.254",
                              "172.16.0.1",
                              "172.31.255.255",
                              "192.168.0.1",
                              "198.18.0.1",
                              "224.0.0.1",
                              "255.255.255.255",
                              "::",
                              "::1",
                              "fe80::1",
                              "fd00::1",
                              "ff02::1",
                              "::ffff:10.0.0.1",
                              "::ffff:127.0.0.1",
                              "64:ff9b::7f00:1",
                              "2002:7f00:1::1",
                              "2001:db8::1",
                              "2001::1"}) {
    CAPTURE(address);
    CHECK_FALSE(is_public_text(address));
  }
}
