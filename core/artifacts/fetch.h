// Fetches models and avatars from the operator's sources into the cache of this machine. Content may come
// from peers, which are asked before the sources; what a name means is for the sources alone to say. Content is
// verified by the manifest's SHA-256 before it can be used. Thread-safe: each call has its own
// connections.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/artifacts/cache.h"
#include "core/artifacts/peers.h"
#include "core/artifacts/source.h"
#include "core/base/progress.h"

namespace navtalk {

struct FetchOptions {
  std::vector<std::string> sources{};  // in the order in which they are asked
  SourceOptions source{};
  PeerOptions peers{};
  std::filesystem::path cache{};
  std::uint64_t cache_bytes = 0;  // 0: no limit
  RangeOptions ranges{};          // of large files
  int failures = 5;               // of one source in a row, without a byte between them
  bool verify = false;  // also what is in the cache and was not changed since it was verified
  Progress progress{};  // bytes of the artifact
};

struct FetchedArtifact {
  CachedFolder folder{};
  ArtifactManifest manifest{};
  std::string source{};                // that sent the manifest; empty: none answered
  std::uint64_t downloaded_bytes = 0;  // in this call
  std::uint64_t peer_bytes = 0;        // of these from peers
};

// Asks the sources in order; the first one that has the name decides the version. When no source
// answers, uses the version that was fetched last, and warns. Error{not_found} when no source has it;
// Error{failed} with each source's answer, or when the disk is full; Error{invalid} for a name or
// source that is not valid; Error{interrupted} or Error{terminated} on a stop request. What was
// downloaded is kept for the next call.
FetchedArtifact fetch_artifact(ArtifactKind kind, const std::string& name,
                               const FetchOptions& options, const std::stop_token& stop);

// Brings content into the cache that another machine asks for, by sum, size and key (ArtifactFile::path
// does not count). Error{not_found} when no source has a file of that key and size; else as
// fetch_artifact().
void fetch_content(const ArtifactFile& file, const FetchOptions& options,
                   const std::stop_token& stop);

}  // namespace navtalk
