#include "core/artifacts/fetch.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "core/artifacts/blob_fetch.h"
#include "core/artifacts/tries.h"
#include "core/base/error.h"
#include "core/log/log.h"
#include "core/text/printable.h"

namespace navtalk {
namespace {

using Outcome = Transfer::Outcome;

// Blobs that other processes remove while this one still fetches others.
constexpr int k_assemblies = 3;

std::string joined(const std::vector<std::string>& reasons) {
  std::string text;
  for (const std::string& reason : reasons) text += (text.empty() ? "" : "; ") + reason;
  return text;
}

ArtifactSources open_sources(const FetchOptions& options) {
  ArtifactSources sources;
  for (const std::string& source : options.sources)
    sources.push_back(open_source(source, options.source));
  return sources;
}

class Fetch {
 public:
  Fetch(ArtifactKind kind, const std::string& name, const FetchOptions& options,
        const std::stop_token& stop)
      : kind_(kind),
        name_(name),
        options_(options),
        stop_(stop),
        cache_(options.cache, options.cache_bytes),
        sources_(open_sources(options)),
        peers_(options.peers, cache_.id()) {}

  FetchedArtifact run() {
    FetchedArtifact fetched;
    if (!find_manifest(fetched)) return kept_version();
    if (options_.verify) cache_.distrust(fetched.manifest);
    if (auto folder = cache_.find(fetched.manifest)) {
      fetched.folder = std::move(*folder);
      return fetched;
    }
    const UniqueFd lock = cache_.begin(fetched.manifest, stop_);
    BlobFetch blobs({.cache = cache_,
                     .sources = sources_,
                     .peers = peers_,
                     .ranges = options_.ranges,
                     .failures = options_.failures,
                     .stop = stop_});
    fetched.folder = bring(blobs, fetched.manifest);
    fetched.peer_bytes = blobs.from_peers();
    fetched.downloaded_bytes = blobs.from_peers() + blobs.from_sources();
    cache_.remember(fetched.manifest);
    cache_.make_room(0);
    return fetched;
  }

 private:
  std::string what() const { return fmt::format("the {} {}", navtalk::name(kind_), name_); }

  // The first source that has one. False when none answered; Error{not_found} when all did.
  bool find_manifest(FetchedArtifact& fetched) {
    bool all_answered = true;
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      std::string text;
      const Transfer transfer = read(*sources_[i], text);
      if (transfer.outcome == Outcome::done) {
        try {
          fetched.manifest = parse_manifest(text, kind_, name_);
        } catch (const Error& error) {
          all_answered = false;
          reasons_.push_back(sources_[i]->name() + ": " + error.message());
          continue;
        }
        fetched.source = sources_[i]->name();
        // Its content is most likely where the manifest is.
        std::rotate(sources_.begin(), sources_.begin() + static_cast<std::ptrdiff_t>(i),
                    sources_.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        return true;
      }
      all_answered = all_answered && transfer.outcome == Outcome::missing;
      reasons_.push_back(transfer.why);
    }
    if (!all_answered) return false;
    throw Error(Code::not_found,
                fmt::format("no source of models has {}: {}", what(), joined(reasons_)));
  }

  Transfer read(ArtifactSource& source, std::string& text) {
    Tries tries(options_.failures, stop_);
    for (;;) {
      const Transfer transfer =
          source.read(manifest_key(kind_, name_), k_max_manifest, text, stop_);
      if (transfer.outcome != Outcome::again || !tries.again(transfer)) return transfer;
    }
  }

  // What was fetched last, whether or not it is still what the sources have.
  FetchedArtifact kept_version() {
    if (auto manifest = cache_.last(kind_, name_)) {
      if (options_.verify) cache_.distrust(*manifest);
      if (auto folder = cache_.find(*manifest)) {
        log::warn("no source of models answers: using the version that was fetched last",
                  {{navtalk::name(kind_), name_}, {"error", joined(reasons_)}});
        return {.folder = std::move(*folder), .manifest = std::move(*manifest)};
      }
    }
    throw Error(Code::failed, fmt::format("{} cannot be fetched: {}", what(), joined(reasons_)));
  }

  CachedFolder bring(BlobFetch& blobs, const ArtifactManifest& manifest) {
    for (int i = 0; i < k_assemblies; ++i) {
      // Another process may have put it together while this one waited.
      if (auto folder = cache_.find(manifest)) return std::move(*folder);
      std::uint64_t missing = 0;
      for (const ArtifactFile& file : manifest.files)
        missing += cache_.has_right_blob(file) ? 0 : file.bytes;
      cache_.make_room(missing);
      done_ = 0;
      for (const ArtifactFile& file : manifest.files) {
        if (!cache_.has_right_blob(file)) bring_blob(blobs, manifest, file);
        done_ += file.bytes;
      }
      if (auto folder = cache_.assemble(manifest)) return std::move(*folder);
    }
    throw Error(Code::failed, fmt::format("{} does not fit into the cache {} beside the other "
                                          "downloads: raise models.cache_bytes",
                                          what(), cache_.folder().native()));
  }

  void bring_blob(BlobFetch& blobs, const ArtifactManifest& manifest, const ArtifactFile& file) {
    const auto on_growth = [&, all = manifest.bytes()](std::uint64_t size) {
      if (options_.progress) options_.progress("fetching", done_ + size, all);
    };
    try {
      blobs.bring(file, key_of(manifest, file), on_growth);
    } catch (const Error& error) {
      if (error.code() != Code::failed) throw;
      throw error.within(fmt::format("{} of {} cannot be fetched", file.path, what()));
    }
  }

  const ArtifactKind kind_;
  const std::string& name_;
  const FetchOptions& options_;
  const std::stop_token& stop_;
  const ArtifactCache cache_;
  ArtifactSources sources_;
  Peers peers_;
  std::vector<std::string> reasons_;
  std::uint64_t done_ = 0;  // bytes
};

}  // namespace

FetchedArtifact fetch_artifact(ArtifactKind kind, const std::string& name,
                               const FetchOptions& options, const std::stop_token& stop) {
  if (!valid_artifact_name(name)) {
    throw Error(Code::invalid,
                fmt::format("'{}' is not a name in a model store: 1 to 64 of A-Z, a-z, 0-9, '.', "
                            "'_' and '-', not starting with '.' or '-'",
                            printable_start(name, 64)));
  }
  return Fetch(kind, name, options, stop).run();
}

void fetch_content(const ArtifactFile& file, const FetchOptions& options,
                   const std::stop_token& stop) {
  const ArtifactCache cache(options.cache, options.cache_bytes);
  const ArtifactSources sources = open_sources(options);
  std::string reasons;
  // Who asks may be wrong, and room for what does not exist would cost the cache what does.
  const bool there = std::ranges::any_of(sources, [&](const auto& source) {
    const Transfer transfer = source->find(file.key, file.bytes, stop);
    if (transfer.outcome != Outcome::done) reasons += (reasons.empty() ? "" : "; ") + transfer.why;
    return transfer.outcome == Outcome::done;
  });
  if (!there) throw Error(Code::not_found, "no source has that content: " + reasons);
  cache.make_room(file.bytes);
  Peers peers(options.peers, cache.id());
  BlobFetch({.cache = cache,
             .sources = sources,
             .peers = peers,
             .ranges = options.ranges,
             .failures = options.failures,
             .stop = stop})
      .bring(file, file.key, {});
}

}  // namespace navtalk
