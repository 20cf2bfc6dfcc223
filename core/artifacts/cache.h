// Models and avatars on the local disk, shared by all processes of one user or machine:
//
//   blobs/SHA256             complete, verified content; never changed
//   verified/SHA256          how its file was when it was verified (verified_content.h)
//   partial/SHA256           content that is being downloaded (partial_blob.h)
//   partial/SHA256.FIRST     ranges of it that came earlier than what is before them (ranges/ahead_files.h)
//   models/NAME/DIGEST/      one version of a model: its files are hard links to blobs. A process that
//                            uses it holds a shared lock on it
//   models/NAME/lock         held by a process that assembles a version, or removes an incomplete one
//   models/NAME/manifest.json  of the version that was fetched last
//   avatars/NAME/...         the same for avatars
//   id                       tells this cache from those of other machines
//
// When the cache exceeds its limit, the content that was used least recently is removed, except what is
// in use. Thread-safe; several processes may call at the same time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>

#include "core/artifacts/manifest.h"
#include "core/artifacts/partial_blob.h"
#include "core/artifacts/verified_content.h"
#include "core/base/unique_fd.h"

namespace navtalk {

// A folder of the cache. It is not removed while this object exists.
struct CachedFolder {
  std::filesystem::path path{};
  UniqueFd use{};
};

class ArtifactCache {
 public:
  // `max_bytes` 0: no limit. Error{failed} when the folder cannot be made.
  ArtifactCache(std::filesystem::path folder, std::uint64_t max_bytes);

  // The version that the manifest describes; nullopt unless all its files are there, and right. A file that is not as
  // it was when it was verified is read and compared with its SHA-256.
  std::optional<CachedFolder> find(const ArtifactManifest& manifest) const;
  // The manifest that remember() stored last; nullopt also when it cannot be read.
  std::optional<ArtifactManifest> last(ArtifactKind kind, const std::string& name) const;
  void remember(const ArtifactManifest& manifest) const;

  // The lock of the process that assembles versions of this name; waits while another one holds it.
  UniqueFd begin(const ArtifactManifest& manifest, const std::stop_token& stop) const;
  // Its size is right. What was verified may have been changed since.
  bool has_blob(const ArtifactFile& file) const;
  // Reads it if it is not as it was when it was verified. A wrong one is removed.
  bool has_right_blob(const ArtifactFile& file) const;
  // Its files are read and compared again when they are looked for next.
  void distrust(const ArtifactManifest& manifest) const;
  PartialBlob partial(const ArtifactFile& file, const std::stop_token& stop) const;
  // Turns a blob that is complete and verified into content of the cache.
  void keep(PartialBlob& blob, const ArtifactFile& file) const;
  // Assembles the version from its blobs; where processes use one with wrong files, these are replaced. nullopt when one was removed meanwhile: fetch it again.
  std::optional<CachedFolder> assemble(const ArtifactManifest& manifest) const;

  // Removes content that is not in use until `coming` more bytes fit. Does nothing while another
  // process does the same.
  void make_room(std::uint64_t coming) const;

  const std::filesystem::path& folder() const { return folder_; }
  // Of content that is complete, and of content that is being downloaded: for readers.
  std::filesystem::path blob_path(const ArtifactFile& file) const { return blob(file); }
  std::filesystem::path partial_path(const ArtifactFile& file) const;
  // The same for all processes that share this cache, for as long as it exists. Error{failed}.
  std::string id() const;

 private:
  std::filesystem::path place(ArtifactKind kind, const std::string& name) const;
  std::filesystem::path version(const ArtifactManifest& manifest) const;
  std::filesystem::path blob(const ArtifactFile& file) const;

  std::filesystem::path folder_;
  std::uint64_t max_bytes_;
  VerifiedContent verified_;
};

}  // namespace navtalk
