#include "core/artifacts/fetch.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <random>

#include "core/artifacts/retry.h"
#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/base/sleep.h"
#include "core/log/log.h"
#include "core/text/printable.h"

namespace navtalk {
namespace {

using Outcome = Transfer::Outcome;

// Of a server that sends a little each time: more tries than any network needs.
constexpr int k_most_tries = 1000;
// Blobs that other processes remove while this one still fetches others.
constexpr int k_assemblies = 3;
// Wrong bytes come again when they lie in the source, and may not when they came from the network.
constexpr int k_corrupt = 2;

class Tries {
 public:
  Tries(int failures, const std::stop_token& stop) : most_(failures), stop_(stop) {}

  // Waits before the next try; false when there were enough.
  bool again(const Transfer& transfer) {
    throw_if_stopped(stop_);
    if (++failures_ >= most_ || ++tries_ >= k_most_tries) return false;
    const double chance = std::uniform_real_distribution<double>(0, 1)(random_);
    if (!sleep_for(retry_delay(failures_, chance, transfer.retry_after), stop_))
      throw_if_stopped(stop_);
    return true;
  }
  void progressed() { failures_ = 0; }

 private:
  const int most_;
  const std::stop_token& stop_;
  int failures_ = 0, tries_ = 0;
  std::minstd_rand random_{std::random_device{}()};
};

std::string joined(const std::vector<std::string>& reasons) {
  std::string text;
  for (const std::string& reason : reasons) text += (text.empty() ? "" : "; ") + reason;
  return text;
}

class Fetch {
 public:
  Fetch(ArtifactKind kind, const std::string& name, const FetchOptions& options,
        const std::stop_token& stop)
      : kind_(kind),
        name_(name),
        options_(options),
        stop_(stop),
        cache_(options.cache, options.cache_bytes) {
    for (const std::string& source : options.sources)
      sources_.push_back(open_source(source, options.source));
  }

  FetchedArtifact run() {
    FetchedArtifact fetched;
    if (!find_manifest(fetched)) return kept_version();
    if (auto folder = cache_.find(fetched.manifest)) {
      fetched.folder = std::move(*folder);
      return fetched;
    }
    const UniqueFd lock = cache_.begin(fetched.manifest, stop_);
    fetched.folder = bring(fetched.manifest);
    fetched.downloaded_bytes = downloaded_;
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
      if (auto folder = cache_.find(*manifest)) {
        log::warn("no source of models answers: using the version that was fetched last",
                  {{navtalk::name(kind_), name_}, {"error", joined(reasons_)}});
        return {.folder = std::move(*folder), .manifest = std::move(*manifest)};
      }
    }
    throw Error(Code::failed, fmt::format("{} cannot be fetched: {}", what(), joined(reasons_)));
  }

  CachedFolder bring(const ArtifactManifest& manifest) {
    for (int i = 0; i < k_assemblies; ++i) {
      // Another process may have put it together while this one waited.
      if (auto folder = cache_.find(manifest)) return std::move(*folder);
      std::uint64_t missing = 0;
      for (const ArtifactFile& file : manifest.files)
        missing += cache_.has_blob(file) ? 0 : file.bytes;
      cache_.make_room(missing);
      done_ = 0;
      for (const ArtifactFile& file : manifest.files) {
        if (!cache_.has_blob(file)) bring_blob(manifest, file);
        done_ += file.bytes;
      }
      if (auto folder = cache_.assemble(manifest)) return std::move(*folder);
    }
    throw Error(Code::failed, fmt::format("{} does not fit into the cache {} beside the other "
                                          "downloads: raise models.cache_bytes",
                                          what(), cache_.folder().native()));
  }

  void bring_blob(const ArtifactManifest& manifest, const ArtifactFile& file) {
    PartialBlob blob = cache_.partial(file, stop_);
    if (cache_.has_blob(file)) return;  // another process was faster
    reasons_.clear();
    const std::uint64_t all = manifest.bytes();
    const std::uint64_t had = blob.size();
    blob.on_growth = [&](std::uint64_t size) {
      if (options_.progress) options_.progress("fetching", done_ + size, all);
    };
    for (const auto& source : sources_) {
      const Transfer transfer = bring_blob_from(*source, key_of(manifest, file), file, blob);
      if (transfer.outcome == Outcome::done) {
        downloaded_ += blob.size() - std::min(had, blob.size());
        return cache_.keep(blob, file);
      }
      reasons_.push_back(transfer.why);
    }
    throw Error(Code::failed,
                fmt::format("{} of {} cannot be fetched: {}", file.path, what(), joined(reasons_)));
  }

  // Until all bytes are there and right.
  Transfer bring_blob_from(ArtifactSource& source, const std::string& key, const ArtifactFile& file,
                           PartialBlob& blob) {
    Tries tries(options_.failures, stop_);
    for (int corrupt = 0;;) {
      const std::uint64_t before = blob.size();
      Transfer transfer = source.fetch(key, blob, stop_);
      if (transfer.outcome == Outcome::done) {
        if (blob.is_whole(file.sha256)) return transfer;
        blob.restart();
        transfer = {.outcome = ++corrupt < k_corrupt ? Outcome::again : Outcome::refused,
                    .why = fmt::format("{}/{}: the bytes do not have the SHA-256 of the manifest",
                                       source.name(), key)};
        log::warn("content with a wrong SHA-256 was discarded", {{"error", transfer.why}});
      } else if (blob.size() > before) {
        tries.progressed();
      }
      if (transfer.outcome != Outcome::again || !tries.again(transfer)) return transfer;
    }
  }

  const ArtifactKind kind_;
  const std::string& name_;
  const FetchOptions& options_;
  const std::stop_token& stop_;
  const ArtifactCache cache_;
  std::vector<std::unique_ptr<ArtifactSource>> sources_;
  std::vector<std::string> reasons_;
  std::uint64_t done_ = 0, downloaded_ = 0;  // bytes
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

}  // namespace navtalk
