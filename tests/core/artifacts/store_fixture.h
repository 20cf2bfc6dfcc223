// A model in a store: its files, and the objects that a source has of them. A web server of it that can
// be told to misbehave.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/artifacts/fetch.h"
#include "core/base/guarded.h"
#include "core/checkpoint/checkpoint.h"
#include "tests/core/files/scratch_folder.h"
#include "tests/fakes/loopback_server.h"

namespace navtalk::test {

using Objects = std::map<std::string, std::string>;  // by key

inline std::string sum_of(const std::string& text) {
  return sha256(std::as_bytes(std::span(text.data(), text.size())));
}

inline ArtifactManifest manifest_of(const std::string& name, const Objects& files) {
  ArtifactManifest manifest{.kind = ArtifactKind::model, .name = name};
  for (const auto& [path, text] : files) {
    const std::string sum = sum_of(text);
    manifest.files.push_back(
        {.path = path, .bytes = text.size(), .sha256 = sum, .key = blob_key(sum)});
  }
  return manifest;
}

inline Objects objects_of(const std::string& name, const Objects& files) {
  const ArtifactManifest manifest = manifest_of(name, files);
  Objects objects{{manifest_key(manifest.kind, name), manifest_text(manifest)}};
  for (const auto& [path, text] : files) objects[blob_key(sum_of(text))] = text;
  return objects;
}

// Text that differs everywhere, so that bytes in the wrong place are found.
inline std::string long_text(std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; text.size() < bytes; ++i) text += std::to_string(i) + " ";
  text.resize(bytes);
  return text;
}

struct Asked {
  std::string method, key, range;
};

class StoreServer {
 public:
  // Answers a request for content in its own way; false: it is answered as it should be.
  using Fault = std::function<bool(tests::Connection&, const tests::ReceivedRequest&,
                                   const std::string& body)>;

  explicit StoreServer(Objects objects, Fault fault = {})
      : objects_(std::move(objects)),
        server_([this, fault](tests::Connection& client, const tests::ReceivedRequest& request) {
          answer(client, request, fault);
        }) {}

  std::string url() const { return server_.url("/store"); }
  std::vector<Asked> asked() const {
    return asked_.with([](const auto& all) { return all; });
  }
  std::size_t content_requests() const {
    std::size_t count = 0;
    for (const Asked& one : asked()) count += one.key.starts_with("blobs/") ? 1 : 0;
    return count;
  }

 private:
  void answer(tests::Connection& client, const tests::ReceivedRequest& request,
              const Fault& fault) {
    const std::string key = request.path.substr(std::string("/store/").size());
    const std::string range = request.header("range");
    asked_.with([&](auto& all) { all.push_back({request.method, key, range}); });
    const auto found = objects_.find(key);
    const std::string body = found == objects_.end() ? "" : found->second;
    if (fault && key.starts_with("blobs/") && fault(client, request, body)) return;
    if (found == objects_.end()) {
      client.answer(404, "no such thing");
      return;
    }
    if (request.method == "HEAD") {
      client.send("HTTP/1.1 200 X\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n");
      return;
    }
    if (range.empty()) {
      client.answer(200, body);
      return;
    }
    const std::size_t first = std::stoul(range.substr(std::string("bytes=").size()));
    const std::string last_text = range.substr(range.find('-') + 1);
    const std::size_t last = last_text.empty() ? body.size() - 1 : std::stoul(last_text);
    client.answer(206, body.substr(first, last + 1 - first),
                  {{"Content-Range", "bytes " + std::to_string(first) + "-" + std::to_string(last) +
                                         "/" + std::to_string(body.size())}});
  }

  const Objects objects_;
  Guarded<std::vector<Asked>> asked_;
  tests::LoopbackServer server_;  // last: its threads use the rest
};

inline FetchOptions options_for(const std::vector<std::string>& sources,
                                const ScratchFolder& folder) {
  return {.sources = sources, .cache = folder / "cache", .failures = 2};
}

inline FetchedArtifact fetch_model(const FetchOptions& options, const std::string& name = "m") {
  return fetch_artifact(ArtifactKind::model, name, options, {});
}

}  // namespace navtalk::test
