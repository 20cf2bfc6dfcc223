#include "core/artifacts/blob_fetch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/artifacts/ranges/ahead_files.h"
#include "core/artifacts/tries.h"
#include "core/base/error.h"
#include "core/log/log.h"

namespace navtalk {
namespace {

using Outcome = Transfer::Outcome;

// Wrong bytes come again when they lie in the source, and may not when they came from the network.
constexpr int k_corrupt = 2;

std::uint64_t grown(std::uint64_t from, std::uint64_t to) { return to - std::min(from, to); }

}  // namespace

void BlobFetch::bring(const ArtifactFile& file, const std::string& key,
                      const std::function<void(std::uint64_t)>& on_growth) {
  if (uses_.cache.has_right_blob(file)) return;
  PartialBlob blob = uses_.cache.partial(file, uses_.stop);
  if (uses_.cache.has_right_blob(file)) return;  // another one was faster
  blob.on_growth = on_growth;
  std::uint64_t had = blob.size();
  const bool whole = bring_from_peers(file, key, blob);
  from_peers_ += grown(had, blob.size());
  if (whole) return keep(blob, file);
  had = blob.size();
  if (is_large(blob)) {
    auto connections = source_connections(file, key);
    if (bring_ranges(connections, file, blob) == RangesResult::whole) {
      from_sources_ += grown(had, blob.size());
      return keep(blob, file);
    }
  }
  std::string reasons;
  for (const auto& source : uses_.sources) {
    const Transfer transfer = bring_from(*source, file, key, blob);
    if (transfer.outcome == Outcome::done) {
      from_sources_ += grown(had, blob.size());
      return keep(blob, file);
    }
    reasons += (reasons.empty() ? "" : "; ") + transfer.why;
  }
  throw Error(Code::failed, reasons);
}

void BlobFetch::keep(PartialBlob& blob, const ArtifactFile& file) const {
  remove_ahead_files(blob);
  uses_.cache.keep(blob, file);
}

// Ranges are for what is worth several requests.
bool BlobFetch::is_large(const PartialBlob& blob) const {
  return blob.wanted() - blob.size() >= 2 * uses_.ranges.sizes.range;
}

bool BlobFetch::bring_from_peers(const ArtifactFile& file, const std::string& key,
                                 PartialBlob& blob) const {
  if (is_large(blob) && bring_held_ranges(file, key, blob)) return true;
  return uses_.peers.fetch(file, key, blob, uses_.stop);
}

// Some at once. The next ones are asked when all of those have ended: at once, where none of them holds anything.
bool BlobFetch::bring_held_ranges(const ArtifactFile& file, const std::string& key,
                                  PartialBlob& blob) const {
  std::vector<RangeConnection> all = uses_.peers.holders(file, key);
  const std::size_t most = std::max<std::size_t>(1, uses_.ranges.connections);
  for (auto next = all.begin(); next != all.end();) {
    std::vector<RangeConnection> some;
    while (next != all.end() && some.size() < most) some.push_back(std::move(*next++));
    const RangesResult result = bring_ranges(some, file, blob);
    uses_.peers.note(some);
    if (result != RangesResult::some) return result == RangesResult::whole;
  }
  return false;
}

// To the first source. Others may have something else under a key that does not name the content.
std::vector<RangeConnection> BlobFetch::source_connections(const ArtifactFile& file,
                                                           const std::string& key) const {
  std::vector<RangeConnection> found;
  const bool anywhere = key == blob_key(file.sha256);
  for (const auto& source : uses_.sources) {
    for (std::size_t i = 0; i < uses_.ranges.to_one_source; ++i) {
      auto connection = source->another();
      if (connection) found.push_back({.source = std::move(connection), .key = key});
    }
    if (found.empty() || !anywhere) break;  // a folder that comes first is read alone
  }
  if (found.size() > uses_.ranges.connections) found.resize(uses_.ranges.connections);
  return found;
}

BlobFetch::RangesResult BlobFetch::bring_ranges(std::vector<RangeConnection>& connections,
                                                const ArtifactFile& file, PartialBlob& blob) const {
  if (!fetch_ranges(connections, blob, uses_.ranges.sizes, uses_.stop)) return RangesResult::some;
  if (blob.is_whole(file.sha256)) return RangesResult::whole;
  log::warn(
      "content that came in ranges has a wrong SHA-256 and was discarded: it is fetched "
      "again from one after another",
      {{"sha256", file.sha256}});
  blob.restart();
  return RangesResult::wrong;
}

// Until all bytes are there and right.
Transfer BlobFetch::bring_from(ArtifactSource& source, const ArtifactFile& file,
                               const std::string& key, PartialBlob& blob) const {
  Tries tries(uses_.failures, uses_.stop);
  for (int corrupt = 0;;) {
    const std::uint64_t before = blob.size();
    Transfer transfer = source.fetch(key, blob, uses_.stop);
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

}  // namespace navtalk
