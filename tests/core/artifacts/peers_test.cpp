#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <set>

#include "core/artifacts/peers.h"
#include "tests/core/artifacts/store_fixture.h"
#include "tests/core/expect_error.h"

using namespace navtalk;
using namespace navtalk::test;
using tests::Connection;
using tests::LoopbackServer;
using tests::ReceivedRequest;

namespace {

const Objects k_one_file{{"big.bin", long_text(300'000)}};
const std::string k_big = k_one_file.at("big.bin");

struct Answered {
  FetchedArtifact fetched{};
  std::size_t origin = 0;  // requests for content
  int asked = 0;           // of the peer
};

// Fetches from one peer that answers in that way, and an origin that is in order.
Answered fetch_beside(const LoopbackServer::Handler& handler, RangeSizes sizes = {}) {
  const ScratchFolder folder;
  const StoreServer origin(objects_of("m", k_one_file));
  std::atomic<int> asked = 0;
  const LoopbackServer peer([&](Connection& client, const ReceivedRequest& request) {
    ++asked;
    handler(client, request);
  });
  FetchOptions options = options_for({origin.url()}, folder);
  options.peers = {.addresses = {peer.url()},
                   .token = "shared",
                   .patience = std::chrono::seconds(1),
                   .busy_patience = std::chrono::milliseconds(100)};
  options.ranges.sizes = sizes;
  Answered answered{.fetched = fetch_model(options)};
  CHECK(content(answered.fetched.folder.path / "big.bin") == k_big);
  answered.origin = origin.content_requests();
  answered.asked = asked;
  return answered;
}

std::string head(int status, std::size_t bytes) {
  return "HTTP/1.1 " + std::to_string(status) + " X\r\nContent-Length: " + std::to_string(bytes) +
         "\r\n\r\n";
}

}  // namespace

TEST_CASE("content comes from a peer, which is asked for it by its sum with the token") {
  std::vector<std::string> targets, tokens, caches;
  const Answered answered = fetch_beside([&](Connection& client, const ReceivedRequest& request) {
    targets.push_back(request.target);
    tokens.push_back(request.header("authorization"));
    caches.push_back(request.header("navtalk-cache"));
    client.answer(200, k_big);
  });
  CHECK(answered.origin == 0);
  CHECK(answered.fetched.peer_bytes == k_big.size());
  CHECK(answered.fetched.downloaded_bytes == k_big.size());
  CHECK(targets == std::vector<std::string>{"/v1/content/" + sum_of(k_big) +
                                            "?bytes=300000&key=" + blob_key(sum_of(k_big))});
  CHECK(tokens == std::vector<std::string>{"Bearer shared"});
  CHECK(caches.at(0).size() == 32);
}

TEST_CASE(
    "a peer that lies, cuts, drips, refuses or redirects costs a few tries, then the origin") {
  const std::string how =
      GENERATE("lies", "cuts", "drips", "404", "401", "302", "busy", "too much");
  INFO(how);
  const Answered answered = fetch_beside([&](Connection& client, const ReceivedRequest& request) {
    if (how == "lies") {
      client.answer(200, std::string(k_big.size(), 'x'));
    } else if (how == "too much") {
      client.answer(200, k_big + "x");
    } else if (how == "cuts") {
      client.send(head(200, k_big.size()) + k_big.substr(0, 1000));
      client.close();
    } else if (how == "drips") {
      client.send(head(200, k_big.size()));
      for (std::size_t at = 0; at < k_big.size() && client.send(k_big.substr(at, 100)); at += 100)
        if (!client.wait(std::chrono::milliseconds(50))) break;
    } else if (how == "302") {
      client.answer(302, "", {{"Location", request.path}});
    } else if (how == "busy") {
      client.answer(503, "", {{"Retry-After", "1"}});
    } else {
      client.answer(std::stoi(how));
    }
  });
  CHECK(answered.origin == 1);
  CHECK(answered.asked >= 1);
  CHECK(answered.asked <= 3);
}

TEST_CASE("what a peer has sent before it was cut is not sent again by the origin") {
  const Answered answered = fetch_beside([&](Connection& client, const ReceivedRequest& request) {
    if (!request.header("range").empty()) return client.reset();
    client.send(head(200, k_big.size()) + k_big.substr(0, 200'000));
    client.close();
  });
  CHECK(answered.fetched.peer_bytes == 200'000);
  CHECK(answered.fetched.downloaded_bytes == k_big.size());
}

TEST_CASE(
    "large content is asked of peers in ranges, if they hold it; those that lie or lack it cost "
    "the origin one copy") {
  const std::string how = GENERATE("holds", "lies", "lacks", "ignores ranges", "cuts");
  INFO(how);
  std::atomic<int> ranges = 0;
  std::atomic<bool> held = true;
  const Answered answered = fetch_beside(
      [&](Connection& client, const ReceivedRequest& request) {
        const std::string range = request.header("range");
        const bool bounded = !range.empty() && !range.ends_with('-');
        ranges += bounded ? 1 : 0;
        if (bounded && !request.target.ends_with("&held=1")) held = false;
        if (how == "lacks") return static_cast<void>(client.answer(404));
        if (how == "cuts") return client.reset();
        std::string body = k_big;
        if (how == "lies") body = std::string(k_big.size(), 'x');
        if (how == "ignores ranges" || !bounded) return static_cast<void>(client.answer(200, body));
        const std::size_t first = std::stoul(range.substr(6));
        const std::size_t last = std::stoul(range.substr(range.find('-') + 1));
        client.answer(206, body.substr(first, last + 1 - first),
                      {{"Content-Range", "bytes " + std::to_string(first) + "-" +
                                             std::to_string(last) + "/300000"}});
      },
      {.range = 50'000, .ahead = 200'000});
  CHECK(held);
  const bool from_peer = how == "holds" || how == "ignores ranges";
  CHECK(ranges == (how == "holds" || how == "lies" ? 6 : how == "cuts" ? 2 : 1));
  CHECK(answered.fetched.peer_bytes == (from_peer ? k_big.size() : 0));
  CHECK(answered.origin == (from_peer ? 0 : 6));
}

TEST_CASE("not all peers are asked at once whether they hold large content") {
  const ScratchFolder folder;
  const StoreServer origin(objects_of("m", k_one_file));
  constexpr int k_peers = 5;
  std::atomic<int> held = 0, at_once = 0, most = 0;
  const auto lacks = [&](Connection& client, const ReceivedRequest& request) {
    if (request.target.ends_with("&held=1")) {
      ++held;
      const int now = ++at_once;
      for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
      }
      client.wait(std::chrono::milliseconds(50));
      --at_once;
    }
    client.answer(404);
  };
  std::vector<std::unique_ptr<LoopbackServer>> peers;
  FetchOptions options = options_for({origin.url()}, folder);
  for (int i = 0; i < k_peers; ++i)
    options.peers.addresses.push_back(
        peers.emplace_back(std::make_unique<LoopbackServer>(lacks))->url());
  options.ranges = {.sizes = {.range = 50'000}, .connections = 2};
  fetch_model(options);
  CHECK(held == k_peers);
  CHECK(most <= 2);
}

TEST_CASE("peers have one order on every machine, and another one for another content") {
  const std::vector<std::string> addresses{"http://a", "http://b", "http://c", "http://d"};
  std::set<std::string> first;
  for (int i = 0; i < 40; ++i) {
    const std::string sum = sum_of(std::to_string(i));
    const auto order = peer_order(addresses, sum);
    std::vector<std::string> turned(addresses.rbegin(), addresses.rend());
    std::vector<std::string> here, there;
    for (const std::size_t at : order) here.push_back(addresses[at]);
    for (const std::size_t at : peer_order(turned, sum)) there.push_back(turned[at]);
    CHECK(here == there);
    first.insert(here.front());
  }
  CHECK(first.size() == addresses.size());
}

TEST_CASE("behind its own place a machine asks only for what others hold") {
  const ScratchFolder folder;
  const StoreServer origin(objects_of("m", k_one_file));
  std::vector<std::string> targets;
  const LoopbackServer both([&](Connection& client, const ReceivedRequest& request) {
    targets.push_back(request.target);
    client.answer(targets.size() == 1 ? 421 : 404);
  });
  FetchOptions options = options_for({origin.url()}, folder);
  options.peers.addresses = {both.url("/a"), both.url("/b")};
  fetch_model(options);
  REQUIRE(targets.size() == 2);
  CHECK_THAT(targets[0], !Catch::EndsWith("&held=1"));
  CHECK_THAT(targets[1], Catch::EndsWith("&held=1"));
}

TEST_CASE("peers beyond this machine are https, where the network is not trusted") {
  expect_error(Code::invalid, {"must be https", "pool.allow_http_workers"},
               [] { Peers({.addresses = {"http://10.0.0.1:7000"}}, ""); });
  Peers({.addresses = {"http://10.0.0.1:7000"}, .allow_http = true}, "");
  Peers({.addresses = {"https://models.example/navtalk"}}, "");
  expect_error(Code::invalid, {"query"}, [] { Peers({.addresses = {"https://a/b?c"}}, ""); });
}
