// Models and avatars on the local disk, shared by all processes of one user or machine:
//
//   blobs/SHA256             whole content that was verified, which nobody changes
//   partial/SHA256           content on its way (partial_blob.h)
//   models/NAME/DIGEST/      one version of a model: its files are hard links to blobs. A process that
//                            uses it has it locked, shared
//   models/NAME/lock         whoever puts a version together, or removes one that is not whole
//   models/NAME/manifest.json  of the last version that was fetched
//   avatars/NAME/...         the same
//
// What was not used for the longest time goes when there are more bytes than allowed, except what is in
// use. Thread-safe; all calls may be made by several processes at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>

#include "core/artifacts/manifest.h"
#include "core/artifacts/partial_blob.h"
#include "core/base/unique_fd.h"

namespace navtalk {

// A folder of the cache, which stays there as long as this object.
struct CachedFolder {
  std::filesystem::path path{};
  UniqueFd use{};
};

class ArtifactCache {
 public:
  // `max_bytes` 0: no bound. Error{failed} when the folder cannot be made.
  ArtifactCache(std::filesystem::path folder, std::uint64_t max_bytes);

  // The version that the manifest describes, if it is there with all its files.
  std::optional<CachedFolder> find(const ArtifactManifest& manifest) const;
  // The last one that remember() was told; nullopt also when it cannot be read.
  std::optional<ArtifactManifest> last(ArtifactKind kind, const std::string& name) const;
  void remember(const ArtifactManifest& manifest) const;

  // One process at a time puts versions of this name together: waits until no other does.
  UniqueFd begin(const ArtifactManifest& manifest, const std::stop_token& stop) const;
  bool has_blob(const ArtifactFile& file) const;
  PartialBlob partial(const ArtifactFile& file, const std::stop_token& stop) const;
  // The blob is whole and right.
  void keep(PartialBlob& blob, const ArtifactFile& file) const;
  // The version from its blobs, all of which are there. nullopt when one is gone again: fetch it anew.
  std::optional<CachedFolder> assemble(const ArtifactManifest& manifest) const;

  // Removes what is not in use until `coming` more bytes fit. Does nothing while another process does
  // the same.
  void make_room(std::uint64_t coming) const;

  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path place(ArtifactKind kind, const std::string& name) const;
  std::filesystem::path version(const ArtifactManifest& manifest) const;
  std::filesystem::path blob(const ArtifactFile& file) const;

  std::filesystem::path folder_;
  std::uint64_t max_bytes_;
};

}  // namespace navtalk
