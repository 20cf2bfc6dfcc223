// Fetches models and avatars from the sources of an operator into the cache of this machine. What
// arrives is compared with the manifest's SHA-256 before anybody sees it. Thread-safe: each call has its
// own connections.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/artifacts/cache.h"
#include "core/artifacts/source.h"
#include "core/base/progress.h"

namespace navtalk {

struct FetchOptions {
  std::vector<std::string> sources{};  // in the order in which they are asked
  SourceOptions source{};
  std::filesystem::path cache{};
  std::uint64_t cache_bytes = 0;  // 0: no bound
  int failures = 5;               // of one source in a row, without a byte in between
  Progress progress{};            // bytes of the artifact
};

struct FetchedArtifact {
  CachedFolder folder{};
  ArtifactManifest manifest{};
  std::string source{};                // that had the manifest; empty: none answered
  std::uint64_t downloaded_bytes = 0;  // in this call
};

// The version that the first source has which has one at all. When no source answers, the one that was
// fetched last, with a warning. Error{not_found} when no source has it; Error{failed} with what each
// source answered, or when the disk is full; Error{invalid} for a name or source that is none;
// Error{interrupted} or Error{terminated} on a stop request. What was downloaded stays for the next call.
FetchedArtifact fetch_artifact(ArtifactKind kind, const std::string& name,
                               const FetchOptions& options, const std::stop_token& stop);

}  // namespace navtalk
