#include "core/net/async_http_client.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <future>
#include <latch>
#include <optional>
#include <set>
#include <thread>

#include "core/base/guarded.h"
#include "core/base/unique_fd.h"
#include "core/net/attended_clock.h"
#include "tests/core/expect_error.h"
#include "tests/fakes/loopback_server.h"

using namespace navtalk;
using namespace std::chrono_literals;
using test::expect_error;
using tests::Connection;
using tests::LoopbackServer;
using tests::ReceivedRequest;

namespace {

HttpRequest get_request(const std::string& url, std::chrono::milliseconds timeout = 20s) {
  return {.url = url, .connect_timeout = timeout, .timeout = timeout};
}

HttpResult answer_of(AsyncHttpClient& client, HttpRequest request) {
  std::promise<HttpResult> promise;
  client.send(std::move(request), [&](HttpResult result) { promise.set_value(std::move(result)); });
  return promise.get_future().get();
}

HttpFault::Kind fault_of(AsyncHttpClient& client, HttpRequest request) {
  const HttpResult result = answer_of(client, std::move(request));
  if (std::holds_alternative<HttpAnswer>(result)) FAIL("the exchange succeeded");
  return std::get<HttpFault>(result).kind;
}

}  // namespace

TEST_CASE("many requests are under way at once, and each has its own answer") {
  constexpr int k_requests = 20;
  std::latch all(k_requests);  // nobody is answered before everybody has asked
  LoopbackServer server([&](Connection& client, const ReceivedRequest& request) {
    all.arrive_and_wait();
    client.answer(200, request.path);
  });
  AsyncHttpClient client;
  Guarded<std::set<std::string>> bodies;
  std::latch ended(k_requests);
  for (int i = 0; i < k_requests; ++i) {
    client.send(get_request(server.url("/" + std::to_string(i))), [&, i](const HttpResult& result) {
      const auto* answer = std::get_if<HttpAnswer>(&result);
      if (answer != nullptr && answer->body == "/" + std::to_string(i)) {
        bodies.with([&](auto& known) { known.insert(answer->body); });
      }
      ended.count_down();
    });
  }
  ended.wait();
  CHECK(bodies.with([](const auto& known) { return known.size(); }) == k_requests);
}

TEST_CASE(
    "no more requests than allowed are under way, and those in the queue have all their time") {
  std::atomic<int> now{0}, most{0};
  LoopbackServer server([&](Connection& client, const ReceivedRequest&) {
    most = std::max(most.load(), ++now);
    client.wait(50ms);
    --now;
    client.answer(200);
  });
  AsyncHttpClient client({.at_once = 2});
  std::atomic<int> answered{0};
  std::latch ended(8);
  for (int i = 0; i < 8; ++i) {
    client.send(get_request(server.url("/")), [&](const HttpResult& result) {
      if (std::holds_alternative<HttpAnswer>(result)) ++answered;
      ended.count_down();
    });
  }
  ended.wait();
  CHECK(answered == 8);
  CHECK(most <= 2);
}

TEST_CASE("a request that hangs ends at its timeout, and delays no other") {
  LoopbackServer silent([](Connection& client, const ReceivedRequest&) { client.hold(); });
  LoopbackServer server([](Connection& client, const ReceivedRequest&) { client.answer(200); });
  AsyncHttpClient client;
  std::promise<HttpResult> hanging;
  client.send(get_request(silent.url("/")), [&](HttpResult result) { hanging.set_value(result); });
  CHECK(std::holds_alternative<HttpAnswer>(answer_of(client, get_request(server.url("/")))));
  CHECK(fault_of(client, get_request(silent.url("/"), 50ms)) == HttpFault::Kind::timeout);
}

TEST_CASE("a client that is stopped ends what is under way, what waits and what comes later") {
  std::promise<void> asked;
  LoopbackServer silent([&](Connection& client, const ReceivedRequest&) {
    asked.set_value();
    client.hold();
  });
  AsyncHttpClient client({.at_once = 1});
  std::vector<std::promise<HttpResult>> results(3);
  const auto send = [&](std::size_t i) {
    client.send(get_request(silent.url("/"), 100s),
                [&results, i](HttpResult result) { results[i].set_value(std::move(result)); });
  };
  send(0);
  send(1);
  asked.get_future().wait();
  client.stop();
  send(2);
  for (auto& result : results) {
    auto got = result.get_future();
    REQUIRE(got.wait_for(20s) == std::future_status::ready);
    const HttpResult fault = got.get();
    REQUIRE(std::holds_alternative<HttpFault>(fault));
    CHECK(std::get<HttpFault>(fault).kind == HttpFault::Kind::stopped);
  }
}

TEST_CASE("one connection to a server serves one request after the other") {
  Guarded<std::vector<int>> connections;
  LoopbackServer server([&](Connection& client, const ReceivedRequest& request) {
    connections.with([&](auto& seen) { seen.push_back(request.connection); });
    client.answer(200, "ok");
  });
  AsyncHttpClient client;
  for (int i = 0; i < 3; ++i) answer_of(client, get_request(server.url("/")));
  CHECK(connections.with([](const auto& seen) { return seen; }) == std::vector<int>{1, 1, 1});
}

TEST_CASE("where there is room for some connections only, those of the same servers are kept") {
  Guarded<std::vector<int>> first, second;
  const auto noting = [](Guarded<std::vector<int>>& connections) {
    return [&connections](Connection& client, const ReceivedRequest& request) {
      connections.with([&](auto& seen) { seen.push_back(request.connection); });
      client.answer(200, "ok");
    };
  };
  LoopbackServer kept(noting(first)), closed(noting(second));
  AsyncHttpClient client({.at_once = 1, .kept_connections = 2});
  for (int i = 0; i < 3; ++i) {
    answer_of(client, get_request(kept.url("/")));
    answer_of(client, get_request(closed.url("/")));
  }
  CHECK(first.with([](const auto& seen) { return seen; }) == std::vector<int>{1, 1, 1});
  CHECK(second.with([](const auto& seen) { return seen; }) == std::vector<int>{1, 2, 3});
}

TEST_CASE("an asynchronous request keeps to the rules of every other one") {
  LoopbackServer server([](Connection& client, const ReceivedRequest& request) {
    if (request.path == "/moved") client.answer(302, {}, {{"Location", "/"}});
    if (request.path == "/long") client.answer(200, std::string(2000, 'x'));
    if (request.path == "/cut") client.reset();
  });
  AsyncHttpClient client;
  const HttpResult moved = answer_of(client, get_request(server.url("/moved")));
  REQUIRE(std::holds_alternative<HttpAnswer>(moved));
  CHECK(std::get<HttpAnswer>(moved).status == 302);
  HttpRequest limited = get_request(server.url("/long"));
  limited.max_answer = 1000;
  CHECK(fault_of(client, limited) == HttpFault::Kind::too_long);
  CHECK(fault_of(client, get_request(server.url("/cut"))) == HttpFault::Kind::broken);
  const auto never = [](const HttpResult&) { FAIL("it was not sent"); };
  expect_error(Code::invalid, {"URL"},
               [&] { client.send(get_request("ftp://127.0.0.1/"), never); });
}

TEST_CASE("a client that goes gives up what has no answer yet") {
  std::promise<void> asked;
  LoopbackServer silent([&](Connection& client, const ReceivedRequest&) {
    asked.set_value();
    client.hold();
  });
  std::atomic<int> answers{0};
  {
    AsyncHttpClient client({.at_once = 1});
    for (int i = 0; i < 2; ++i)
      client.send(get_request(silent.url("/")), [&](HttpResult) { ++answers; });
    asked.get_future().wait();
  }
  CHECK(answers == 0);
}

TEST_CASE("a loop's own lateness counts as no more than one round") {
  using Clock = AttendedClock::Clock;
  const Clock::time_point start{1h};
  AttendedClock clock(start);
  CHECK(clock.passed() == 0s);
  clock.round(start + 100ms);
  clock.round(start + 250ms);
  CHECK(clock.passed() == 250ms);
  CHECK(clock.at(start + 300ms) == 300ms);
  clock.round(start + 1min);  // the process stood still
  CHECK(clock.passed() == 250ms + AttendedClock::k_longest_round);
  clock.round(start + 1min + 50ms);
  CHECK(clock.passed() == 300ms + AttendedClock::k_longest_round);
  CHECK(clock.at(start) == clock.passed());  // never backwards
}

namespace {

// Listens on loopback, and has no room for another connection: whoever connects hears nothing.
class FullListener {
 public:
  FullListener() {
    REQUIRE(::bind(listener_.value(), to(), sizeof address_) == 0);
    REQUIRE(::listen(listener_.value(), 0) == 0);
    socklen_t size = sizeof address_;
    REQUIRE(::getsockname(listener_.value(), to(), &size) == 0);
    for (UniqueFd& client : clients_) {
      client = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      static_cast<void>(::connect(client.value(), to(), sizeof address_));
    }
  }
  std::string url() const {
    return "http://127.0.0.1:" + std::to_string(ntohs(address_.sin_port)) + "/";
  }

 private:
  sockaddr* to() { return reinterpret_cast<sockaddr*>(&address_); }

  sockaddr_in address_{.sin_family = AF_INET,
                       .sin_port = 0,
                       .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)},
                       .sin_zero = {}};
  UniqueFd listener_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  std::array<UniqueFd, 4> clients_{};
};

}  // namespace

TEST_CASE("a server that cannot be connected to is late in the end, however late the client is") {
  constexpr auto k_timeout = 700ms;
  const FullListener full;
  LoopbackServer server([](Connection& client, const ReceivedRequest&) { client.answer(200); });
  std::promise<HttpResult> result;
  std::atomic<bool> over{false};
  std::function<void(const HttpResult&)> hold_up;  // every round of the client's thread
  AsyncHttpClient client;
  hold_up = [&](const HttpResult&) {
    if (over) return;
    client.send(get_request(server.url("/")), hold_up);
    std::this_thread::sleep_for(k_timeout + 100ms);
  };
  client.send(get_request(server.url("/")), [&](const HttpResult& first) {
    client.send({.url = full.url(), .connect_timeout = k_timeout, .timeout = 20s},
                [&](HttpResult got) {
                  over = true;
                  result.set_value(std::move(got));
                });
    hold_up(first);
  });
  const HttpResult got = result.get_future().get();
  REQUIRE(std::holds_alternative<HttpFault>(got));
  CHECK(std::get<HttpFault>(got).kind == HttpFault::Kind::timeout);
}

TEST_CASE("an answer that came in time counts, though the client looks at it too late") {
  constexpr auto k_timeout = 1s;
  std::promise<void> asked, late;
  std::latch answered(1);
  LoopbackServer slow([&](Connection& client, const ReceivedRequest&) {
    asked.set_value();
    late.get_future().wait();
    client.answer(200, "in time");
    answered.count_down();
  });
  LoopbackServer server([](Connection& client, const ReceivedRequest&) { client.answer(200); });
  AsyncHttpClient client;
  std::promise<HttpResult> result;
  client.send(get_request(slow.url("/"), k_timeout),
              [&](HttpResult got) { result.set_value(std::move(got)); });
  asked.get_future().wait();
  // Holds up the client's thread until the answer is there and its timeout over.
  client.send(get_request(server.url("/")), [&](const HttpResult&) {
    late.set_value();
    answered.wait();
    std::this_thread::sleep_for(k_timeout + 200ms);
  });
  const HttpResult got = result.get_future().get();
  REQUIRE(std::holds_alternative<HttpAnswer>(got));
  CHECK(std::get<HttpAnswer>(got).body == "in time");
}
