// Latents of bundles that have none of the model at hand, kept from one use to the next: one file
// for each (pictures, faces, model), in a folder of the user's cache. It may be emptied at any
// time. What cannot be read is made again, what cannot be kept costs time at the next use: a line
// in the log, never a failure. Stateless; any number of threads and processes may share a folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "avatars/bundle/avatar_info.h"
#include "avatars/bundle/faces.h"
#include "avatars/bundle/latents/latents.h"

namespace navtalk {

// Whose latents: a SHA-256 over all that decides about them.
struct LatentKey {
  std::string text;
  std::string model_checksum;
  std::int64_t frames = 0;
};
// `frames_file`: the bundle's pictures. Error{not_found}, Error{invalid} when it cannot be read.
LatentKey latent_key(const std::filesystem::path& frames_file, const AvatarInfo& info,
                     const Faces& faces, const std::string& model_checksum);

class LatentCache {
 public:
  // 32 KB a frame: some twenty avatars of a minute.
  static constexpr std::uintmax_t k_limit_bytes = std::uintmax_t{1} << 30;

  LatentCache() = default;  // keeps nothing
  explicit LatentCache(std::filesystem::path folder, std::uintmax_t limit_bytes = k_limit_bytes);
  // latents/ in the user's cache (core/files/cache_directory.h); keeps nothing where there is none.
  static LatentCache of_user();

  // nullopt when they are not there, or not whole: then the log says so.
  std::optional<Latents> find(const LatentKey& key) const;
  // Whole or not at all. Then the files that were used longest ago go, until what is left is
  // within the limit; what alone is larger than it is not kept.
  void keep(const LatentKey& key, const Latents& latents) const;

 private:
  std::filesystem::path file_of(const LatentKey& key) const;
  void make_room(const std::filesystem::path& newest) const;

  std::filesystem::path folder_;  // empty: keeps nothing
  std::uintmax_t limit_bytes_ = k_limit_bytes;
};

}  // namespace navtalk
