#include <atomic>
#include <catch2/catch.hpp>
#include <fstream>
#include <thread>

#include "core/artifacts/fetch.h"
#include "tests/core/artifacts/store_fixture.h"
#include "tests/core/expect_error.h"

using namespace navtalk;
using namespace navtalk::test;
using tests::Connection;
using tests::LoopbackServer;
using tests::ReceivedRequest;
namespace fs = std::filesystem;

namespace {

const Objects k_files{{"nets/big.bin", long_text(300'000)}, {"small.json", "{}"}};
const std::string k_big_key = blob_key(sum_of(k_files.at("nets/big.bin")));

void check_model(const fs::path& folder) {
  for (const auto& [path, text] : k_files) CHECK(content(folder / path) == text);
}

std::size_t files_in(const fs::path& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

std::string head_of(int status, std::size_t bytes) {
  return "HTTP/1.1 " + std::to_string(status) + " X\r\nContent-Length: " + std::to_string(bytes) +
         "\r\n\r\n";
}

bool is_big(const ReceivedRequest& request) { return request.path.ends_with(k_big_key); }

}  // namespace

TEST_CASE("a model is fetched whole, and the second time not at all") {
  const ScratchFolder folder;
  const StoreServer server(objects_of("m", k_files));
  const FetchOptions options = options_for({server.url()}, folder);
  const FetchedArtifact first = fetch_model(options);
  check_model(first.folder.path);
  CHECK(first.downloaded_bytes == 300'002);
  CHECK(first.source == server.url());
  const std::size_t asked = server.content_requests();
  const FetchedArtifact second = fetch_model(options);
  CHECK(second.folder.path == first.folder.path);
  CHECK(second.downloaded_bytes == 0);
  CHECK(server.content_requests() == asked);
  CHECK(files_in(folder / "cache/partial") == 0);
}

TEST_CASE("files that lie beside their manifest are fetched as those that were pushed") {
  const ScratchFolder folder;
  ArtifactManifest manifest = manifest_of("m", k_files);
  Objects objects;
  for (ArtifactFile& file : manifest.files) {
    objects["models/m/" + file.path] = k_files.at(file.path);
    file.key.clear();
  }
  objects["models/m/manifest.json"] = manifest_text(manifest);
  const StoreServer server(objects);
  check_model(fetch_model(options_for({server.url()}, folder)).folder.path);
}

TEST_CASE("a download that is cut goes on behind its last byte") {
  const ScratchFolder folder;
  std::atomic<int> cuts = 0;
  const StoreServer server(
      objects_of("m", k_files),
      [&](Connection& client, const ReceivedRequest& request, const std::string& body) {
        if (!is_big(request) || cuts == 3) return false;
        const std::string range = request.header("range");
        const std::size_t first = range.empty() ? 0 : std::stoul(range.substr(6));
        ++cuts;
        std::string head = head_of(range.empty() ? 200 : 206, body.size() - first);
        if (!range.empty())
          head.insert(head.size() - 2,
                      "Content-Range: bytes " + std::to_string(first) + "-299999/300000\r\n");
        client.send(head + body.substr(first, 70'000));
        client.close();
        return true;
      });
  const FetchedArtifact fetched = fetch_model(options_for({server.url()}, folder));
  check_model(fetched.folder.path);
  std::vector<std::string> ranges;
  for (const Asked& one : server.asked()) {
    if (one.key == k_big_key) ranges.push_back(one.range);
  }
  CHECK(ranges == std::vector<std::string>{"", "bytes=70000-", "bytes=140000-", "bytes=210000-"});
}

TEST_CASE("what another process has downloaded is not downloaded again") {
  const ScratchFolder folder;
  const StoreServer server(objects_of("m", k_files));
  fs::create_directories(folder / "cache/partial");
  const std::string& big = k_files.at("nets/big.bin");
  put(folder / "cache/partial" / sum_of(big), big.substr(0, 200'000));
  const FetchedArtifact fetched = fetch_model(options_for({server.url()}, folder));
  check_model(fetched.folder.path);
  CHECK(fetched.downloaded_bytes == 100'002);
}

TEST_CASE("answers that are not what was asked for end in the right bytes or in none") {
  const ScratchFolder folder;
  const std::string& big = k_files.at("nets/big.bin");
  // What was kept is the beginning, or of something else.
  const std::string kept = GENERATE_COPY(big.substr(0, 5000), std::string(5000, 'x'));
  fs::create_directories(folder / "cache/partial");
  put(folder / "cache/partial" / sum_of(big), kept);
  const std::string how = GENERATE("ignores ranges", "416", "shifted", "other length");
  INFO(how);
  std::atomic<bool> lied = false;
  const StoreServer server(objects_of("m", k_files), [&](Connection& client,
                                                         const ReceivedRequest& request,
                                                         const std::string& body) {
    if (!is_big(request) || request.header("range").empty() || lied.exchange(true)) return false;
    if (how == "ignores ranges") return client.answer(200, body);
    if (how == "416") return client.answer(416, "");
    if (how == "shifted")
      return client.answer(206, body.substr(5000), {{"Content-Range", "bytes 4000-298999/300000"}});
    return client.answer(206, body.substr(5000), {{"Content-Range", "bytes 5000-299998/299999"}});
  });
  FetchOptions options = options_for({server.url()}, folder);
  options.failures = 4;
  check_model(fetch_model(options).folder.path);
  // What is of no use is seen at once, not when all has come: once more for the whole, and once for
  // the small file.
  CHECK(server.content_requests() == (how == "ignores ranges" ? 2 : 3));
}

TEST_CASE("wrong, short and long content is never seen, and the next source is asked") {
  const ScratchFolder folder;
  const std::string how = GENERATE("wrong", "short", "long", "500", "403", "404", "slow");
  INFO(how);
  const StoreServer bad(
      objects_of("m", k_files),
      [&](Connection& client, const ReceivedRequest& request, const std::string& body) {
        if (!is_big(request)) return false;
        if (how == "wrong") return client.answer(200, std::string(body.size(), 'x'));
        if (how == "short") return client.answer(200, body.substr(1));
        if (how == "long") return client.answer(200, body + "x");
        if (how == "slow") {
          client.send(head_of(200, body.size()));
          client.hold();
          return true;
        }
        return client.answer(std::stoi(how));
      });
  const auto options = [&](std::vector<std::string> sources) {
    FetchOptions made = options_for(std::move(sources), folder);
    made.source.stall_timeout = std::chrono::seconds(1);
    return made;
  };
  const Error error = error_of([&] { fetch_model(options({bad.url()})); });
  CHECK(error.code() == Code::failed);
  CHECK_THAT(error.message(), Catch::Contains("nets/big.bin of the model m"));
  CHECK_FALSE(fs::exists(folder / "cache" / k_big_key));
  CHECK_FALSE(fs::exists(folder / "cache/models/m" / manifest_of("m", k_files).digest()));
  const StoreServer good(objects_of("m", k_files));
  check_model(fetch_model(options({bad.url(), good.url()})).folder.path);
}

TEST_CASE("a source without a model, or with a manifest that is none, is passed over") {
  const ScratchFolder folder, other;
  const StoreServer empty(Objects{}), good(objects_of("m", k_files));
  const StoreServer broken(Objects{{"models/m/manifest.json", "<html>"}});
  const FetchedArtifact fetched =
      fetch_model(options_for({empty.url(), broken.url(), good.url()}, folder));
  CHECK(fetched.source == good.url());
  check_model(fetched.folder.path);
  expect_error(Code::not_found, {"no source of models has the model other", "404"}, [&] {
    fetch_model(options_for({empty.url(), good.url()}, folder), "other");
  });
  expect_error(Code::failed, {"the manifest is not JSON"},
               [&] { fetch_model(options_for({broken.url()}, other)); });
  expect_error(Code::invalid, {"'../m' is not a name"},
               [&] { fetch_model(options_for({good.url()}, folder), "../m"); });
}

TEST_CASE("without a source that answers, the last version is used") {
  const ScratchFolder folder;
  std::string url;
  {
    const StoreServer server(objects_of("m", k_files));
    url = server.url();
    fetch_model(options_for({url}, folder));
  }
  const FetchedArtifact kept = fetch_model(options_for({url}, folder));
  CHECK(kept.source.empty());
  check_model(kept.folder.path);
  expect_error(Code::failed, {"the model other cannot be fetched", "127.0.0.1"},
               [&] { fetch_model(options_for({url}, folder), "other"); });
}

TEST_CASE("a name that was pushed again is fetched again, what both versions have only once") {
  const ScratchFolder folder;
  Objects files = k_files;
  const StoreServer old_server(objects_of("m", files));
  const FetchedArtifact old_model = fetch_model(options_for({old_server.url()}, folder));
  files["small.json"] = "{\"new\": 1}";
  const StoreServer new_server(objects_of("m", files));
  const FetchedArtifact new_model = fetch_model(options_for({new_server.url()}, folder));
  CHECK(new_model.downloaded_bytes == files["small.json"].size());
  CHECK(content(new_model.folder.path / "small.json") == files["small.json"]);
  check_model(old_model.folder.path);
}

TEST_CASE("many who fetch the same at once take one copy from the origin") {
  const ScratchFolder folder;
  const StoreServer server(objects_of("m", k_files));
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 16; ++i) {
      threads.emplace_back([&] { fetch_model(options_for({server.url()}, folder)); });
    }
  }
  CHECK(server.content_requests() == 2);
  check_model(fetch_model(options_for({server.url()}, folder)).folder.path);
}

TEST_CASE("a redirect of content is followed, but not in a circle") {
  const ScratchFolder folder;
  const StoreServer server(
      objects_of("m", k_files),
      [](Connection& client, const ReceivedRequest& request, const std::string&) {
        if (request.path.starts_with("/store/blobs/"))
          return client.answer(302, "", {{"Location", request.path}});
        return false;
      });
  expect_error(Code::failed, {"redirects to an address that is not allowed"},
               [&] { fetch_model(options_for({server.url()}, folder)); });
  CHECK(server.content_requests() < 10);
  const StoreServer moved(objects_of("m", k_files));
  const StoreServer first(
      objects_of("m", k_files),
      [&](Connection& client, const ReceivedRequest& request, const std::string&) {
        return client.answer(307, "", {{"Location", moved.url() + request.path.substr(6)}});
      });
  check_model(fetch_model(options_for({first.url()}, folder)).folder.path);
  CHECK(moved.content_requests() == 2);
}

TEST_CASE("a fetch that is stopped ends, and what it has stays for the next one") {
  const ScratchFolder folder;
  std::stop_source stop;
  const StoreServer server(
      objects_of("m", k_files),
      [&](Connection& client, const ReceivedRequest& request, const std::string& body) {
        if (!is_big(request) || !request.header("range").empty()) return false;
        client.send(head_of(200, body.size()) + body.substr(0, 100'000));
        client.hold();
        return true;
      });
  FetchOptions options = options_for({server.url()}, folder);
  options.progress = [&](std::string_view, std::size_t done, std::size_t) {
    if (done == 100'000) stop.request_stop();
  };
  expect_error(Code::interrupted, {},
               [&] { fetch_artifact(ArtifactKind::model, "m", options, stop.get_token()); });
  options.progress = {};
  CHECK(fetch_model(options).downloaded_bytes == 200'002);
}
