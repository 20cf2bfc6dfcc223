#include "server/content/content_server.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <list>
#include <memory>
#include <optional>
#include <thread>

#include "core/net/http_client.h"
#include "tests/core/artifacts/store_fixture.h"

using namespace navtalk;
using namespace navtalk::test;
using navtalk::server::ContentServer;
using tests::Connection;
using tests::ReceivedRequest;
namespace fs = std::filesystem;

namespace {

constexpr int k_machines = 12;
constexpr std::chrono::seconds k_patience(120);
constexpr RangeSizes k_small_ranges{.range = 100'000, .ahead = 1'000'000};

const Objects k_files{
    {"a.bin", long_text(3'000'000)}, {"b.bin", long_text(70'000)}, {"c.json", "{}"}};

void check_model(const fs::path& folder) {
  for (const auto& [path, text] : k_files) CHECK(content(folder / path) == text);
}

std::size_t bytes_of(const Objects& files) {
  std::size_t bytes = 0;
  for (const auto& [path, text] : files) bytes += text.size();
  return bytes;
}

// Machines with a cache and a server each, which all know all.
struct Machines {
  Machines(int count, const std::string& origin, const std::string& token = "",
           RangeSizes sizes = {}) {
    for (int i = 0; i < count; ++i) {
      folders.emplace_back();
      servers.push_back(std::make_unique<ContentServer>(server_options(i, origin, token)));
      addresses.push_back(servers.back()->url());
    }
    // Their own peers are known once all have an address.
    for (int i = 0; i < count; ++i) {
      servers[static_cast<std::size_t>(i)].reset();
      auto again = server_options(i, origin, token);
      again.listen = addresses[static_cast<std::size_t>(i)].substr(std::string("http://").size());
      again.fetch.ranges.sizes = sizes;
      // On a busy computer all of them are slow, and none is to be left for that.
      again.fetch.peers = {
          .addresses = addresses, .token = token, .least_rate = 1, .patience = k_patience};
      options.push_back(again.fetch);
      servers[static_cast<std::size_t>(i)] = std::make_unique<ContentServer>(again);
    }
  }

  server::ContentServerOptions server_options(int i, const std::string& origin,
                                              const std::string& token) {
    auto at = folders.begin();
    std::advance(at, i);
    return {.listen = "127.0.0.1:0", .token = token, .fetch = options_for({origin}, *at)};
  }

  std::list<ScratchFolder> folders;
  std::vector<std::string> addresses;
  std::vector<FetchOptions> options;
  std::vector<std::unique_ptr<ContentServer>> servers;
};

HttpAnswer get(const std::string& url,
               std::vector<std::pair<std::string, std::string>> headers = {}) {
  HttpClient client;
  return std::get<HttpAnswer>(client.send({.url = url, .headers = std::move(headers)}));
}

std::string target(const std::string& text, std::string tail = "") {
  const std::string sum = sum_of(text);
  return "/v1/content/" + sum + "?bytes=" + std::to_string(text.size()) + "&key=" + blob_key(sum) +
         tail;
}

}  // namespace

TEST_CASE("many machines that start at once take one copy from the origin") {
  std::atomic<std::size_t> sent = 0;
  const StoreServer origin(objects_of("m", k_files), [&](Connection& client,
                                                         const ReceivedRequest& request,
                                                         const std::string& body) {
    if (request.method != "GET") return false;
    sent += body.size();
    // In pieces, so that others ask while it still comes.
    client.send("HTTP/1.1 200 X\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n");
    for (std::size_t at = 0; at < body.size(); at += 300'000) {
      client.send(body.substr(at, 300'000));
      client.wait(std::chrono::milliseconds(10));
    }
    return true;
  });
  Machines machines(k_machines, origin.url(), "shared");
  std::vector<FetchedArtifact> fetched(k_machines);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < k_machines; ++i)
      threads.emplace_back([&, i] { fetched[i] = fetch_model(machines.options[i]); });
  }
  std::size_t from_peers = 0;
  for (const FetchedArtifact& one : fetched) {
    check_model(one.folder.path);
    from_peers += one.peer_bytes;
  }
  CHECK(sent == bytes_of(k_files));
  CHECK(from_peers >= (k_machines - 1) * bytes_of(k_files) - bytes_of(k_files));
}

TEST_CASE("large content that machines hold comes in ranges from all of them, without the origin") {
  std::optional<StoreServer> origin(std::in_place, objects_of("m", k_files));
  Machines machines(8, origin->url(), "", k_small_ranges);
  for (std::size_t i = 0; i < 3; ++i) fetch_model(machines.options[i]);
  bool from_peers = false;  // a busy computer may take a peer for slow: then the next machine tries
  for (std::size_t i = 3; i < machines.options.size() && !from_peers; ++i) {
    const std::size_t asked = origin->content_requests();
    const FetchedArtifact fetched = fetch_model(machines.options[i]);
    check_model(fetched.folder.path);
    from_peers = fetched.peer_bytes == bytes_of(k_files) && origin->content_requests() == asked;
  }
  CHECK(from_peers);
}

TEST_CASE("many machines that start at once take one copy of large content from the origin") {
  std::atomic<std::size_t> sent = 0;
  const StoreServer origin(
      objects_of("m", k_files),
      [&](Connection& client, const ReceivedRequest& request, const std::string& body) {
        if (request.method != "GET") return false;
        const std::string range = request.header("range");
        const std::size_t first = range.empty() ? 0 : std::stoul(range.substr(6));
        const std::string last = range.substr(range.find('-') + 1);
        sent += (last.empty() ? body.size() : std::stoul(last) + 1) - first;
        client.wait(std::chrono::milliseconds(5));
        return false;
      });
  Machines machines(k_machines, origin.url(), "", k_small_ranges);
  std::vector<FetchedArtifact> fetched(k_machines);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < k_machines; ++i)
      threads.emplace_back([&, i] { fetched[i] = fetch_model(machines.options[i]); });
  }
  for (const FetchedArtifact& one : fetched) check_model(one.folder.path);
  CHECK(sent >= bytes_of(k_files));
  CHECK(sent <
        2 * bytes_of(
                k_files));  // a range that waits for seconds on a busy machine is asked for twice
}

TEST_CASE("what machines hold is fetched from them without the origin, whoever is gone") {
  std::optional<StoreServer> origin(std::in_place, objects_of("m", k_files));
  Machines machines(3, origin->url());
  fetch_model(machines.options[0]);
  const std::size_t asked = origin->content_requests();
  machines.servers[1].reset();
  const FetchedArtifact fetched = fetch_model(machines.options[2]);
  check_model(fetched.folder.path);
  // The first one has made those before it in a file's order fetch that file, too.
  CHECK(fetched.peer_bytes == fetched.downloaded_bytes);
  // Whether another one has to fetch is looked up (HEAD), nothing is fetched.
  std::size_t content = 0;
  for (const Asked& one : origin->asked())
    content += one.method == "GET" && one.key.starts_with("blobs/");
  CHECK(content <= asked);
}

TEST_CASE("content is told to those with the token, whole or from a byte, and nothing else is") {
  const StoreServer origin(objects_of("m", k_files));
  Machines machines(1, origin.url(), "shared");
  const std::string base = machines.addresses[0];
  const std::string& text = k_files.at("b.bin");
  const std::pair<std::string, std::string> token{"Authorization", "Bearer shared"};
  CHECK(get(base + target(text)).status == 401);
  CHECK(get(base + target(text), {{"Authorization", "Bearer other"}}).status == 401);
  CHECK(get(base + target(text, "&held=1"), {token}).status == 404);
  const HttpAnswer whole = get(base + target(text), {token});
  CHECK(whole.status == 200);
  CHECK(whole.body == text);
  // It is held once it is verified, a moment after its last byte was passed on.
  HttpAnswer rest;
  for (const auto until = std::chrono::steady_clock::now() + k_patience;
       rest.status != 206 && std::chrono::steady_clock::now() < until; std::this_thread::yield())
    rest = get(base + target(text, "&held=1"), {token, {"Range", "bytes=69000-"}});
  CHECK(rest.status == 206);
  CHECK(rest.body == text.substr(69'000));
  CHECK(rest.header("content-range") == "bytes 69000-69999/70000");
  const HttpAnswer part = get(base + target(text), {token, {"Range", "bytes=5-104"}});
  CHECK(part.status == 206);
  CHECK(part.body == text.substr(5, 100));
  CHECK(part.header("content-range") == "bytes 5-104/70000");
  for (const char* range : {"bytes=6-5", "bytes=-5", "bytes=0-70000", "bytes=70000-", "bytes=a-",
                            "bytes=0-1,3-4", "items=0-5"}) {
    INFO(range);
    CHECK(get(base + target(text), {token, {"Range", range}}).status == 400);
  }
  const std::string id = ArtifactCache(machines.options[0].cache, 0).id();
  CHECK(get(base + target(text), {token, {"Navtalk-Cache", id}}).status == 421);
  CHECK(get(base + "/v1/content/" + sum_of(text) + "?bytes=70000&key=../secret", {token}).status ==
        400);
  CHECK(get(base + "/v1/content/..%2f..%2fid?bytes=33&key=a", {token}).status == 404);
  CHECK(get(base + "/healthz", {token}).status == 404);
}

TEST_CASE("content that no source has in that size is not fetched, and makes no room") {
  const StoreServer origin(objects_of("m", k_files));
  Machines machines(1, origin.url());
  fetch_model(machines.options[0]);
  const std::string& text = k_files.at("b.bin");
  const std::string base = machines.addresses[0] + "/v1/content/" + sum_of("none");
  CHECK(get(base + "?bytes=900000000000&key=" + blob_key(sum_of(text))).status == 404);
  CHECK(get(base + "?bytes=4&key=nothing").status == 404);
  // A sum that is not that of the file: its bytes are passed on, and kept nowhere.
  get(base + "?bytes=" + std::to_string(text.size()) + "&key=" + blob_key(sum_of(text)));
  CHECK_FALSE(fs::exists(machines.options[0].cache / "blobs" / sum_of("none")));
}

TEST_CASE("a server for other machines has a token") {
  const ScratchFolder folder;
  CHECK_THROWS_WITH(
      ContentServer({.listen = "0.0.0.0:0", .fetch = options_for({"/nowhere"}, folder)}),
      Catch::Contains("NAVTALK_PEER_TOKEN"));
}
