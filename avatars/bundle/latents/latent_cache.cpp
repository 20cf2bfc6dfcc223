#include "avatars/bundle/latents/latent_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/checkpoint/checkpoint.h"
#include "core/files/cache_directory.h"
#include "core/files/partial_path.h"
#include "core/log/log.h"

namespace navtalk {
namespace {

namespace fs = std::filesystem;

constexpr const char* k_key = "key";
constexpr const char* k_content = "content";  // SHA-256 of the values
// Goes into every key; another number where the same crops would give other latents.
constexpr int k_version = 1;
constexpr std::string_view k_suffix = ".safetensors";

std::string checksum(std::string_view text) {
  return sha256(std::as_bytes(std::span(text.data(), text.size())));
}

std::string content_of(const Latents& latents) { return sha256(std::as_bytes(latents.values())); }

// What is kept is this key's, unchanged since. Error{invalid} with the reason.
void check(const Checkpoint& file, const Latents& latents, const LatentKey& key) {
  const auto says = [&](const char* name, const std::string& wanted) {
    const auto entry = file.metadata().find(name);
    return entry != file.metadata().end() && entry->second == wanted;
  };
  if (!says(k_key, key.text))
    throw Error(Code::invalid, file.path().string() + " holds another avatar's latents");
  if (!says(k_content, content_of(latents)))
    throw Error(Code::invalid, file.path().string() + " has changed since it was written");
}

struct Kept {
  fs::path file;
  std::uintmax_t bytes;
  fs::file_time_type used;
};

// Ours, and what a killed run has left of ours; the longest unused first.
std::vector<Kept> kept_files(const fs::path& folder) {
  std::vector<Kept> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.find(k_suffix) == std::string::npos) continue;
    std::error_code gone;
    const Kept kept{entry.path(), entry.file_size(gone), entry.last_write_time(gone)};
    if (!gone) files.push_back(kept);
  }
  std::sort(files.begin(), files.end(),
            [](const Kept& a, const Kept& b) { return a.used < b.used; });
  return files;
}

// Only its owner can write to it, and nobody else read it: faces are private.
void make_folder(const fs::path& folder) {
  std::error_code fault;
  if (fs::create_directories(folder, fault))
    fs::permissions(folder, fs::perms::owner_all, fs::perm_options::replace, fault);
  if (fault)
    throw Error(Code::failed,
                fmt::format("cannot make the folder {}: {}", folder.string(), fault.message()));
}

}  // namespace

LatentKey latent_key(const fs::path& frames_file, const AvatarInfo& info, const Faces& faces,
                     const std::string& model_checksum) {
  std::string text =
      fmt::format("navtalk latents {} fp32\nmodel {}\nframes {} {}x{} {}\n", k_version,
                  model_checksum, info.frames, info.width, info.height, sha256_file(frames_file));
  for (const auto& face : faces) {
    if (face) {
      const Box& box = face->placement.box;
      text += fmt::format("{} {} {} {}", box.x1, box.y1, box.x2, box.y2);
    }
    text += '\n';
  }
  return {.text = checksum(text), .model_checksum = model_checksum, .frames = info.frames};
}

LatentCache::LatentCache(fs::path folder, std::uintmax_t limit_bytes)
    : folder_(std::move(folder)), limit_bytes_(limit_bytes) {}

LatentCache LatentCache::of_user() {
  const auto folder = cache_directory();
  return folder ? LatentCache(*folder / "latents") : LatentCache();
}

fs::path LatentCache::file_of(const LatentKey& key) const {
  return folder_ / (key.text + std::string(k_suffix));
}

std::optional<Latents> LatentCache::find(const LatentKey& key) const {
  const fs::path file = file_of(key);
  std::error_code fault;
  if (folder_.empty() || !fs::exists(file, fault)) return std::nullopt;
  try {
    AvatarInfo expected;
    expected.frames = key.frames;
    expected.model_checksum = key.model_checksum;
    Latents latents(file, expected);
    check(Checkpoint::open(file), latents, key);
    fs::last_write_time(file, fs::file_time_type::clock::now(), fault);  // used; fails: older
    return latents;
  } catch (const Error& error) {
    log::warn("kept latents are of no use and are made again: " + error.message());
    return std::nullopt;
  }
}

void LatentCache::keep(const LatentKey& key, const Latents& latents) const {
  if (folder_.empty() || latents.values().size_bytes() > limit_bytes_) return;
  try {
    make_folder(folder_);
    PartialPath file({.target = file_of(key), .overwrite = true});
    try {
      latents.write(file.path(), key.model_checksum,
                    {{k_key, key.text}, {k_content, content_of(latents)}});
    } catch (const Error& error) {
      throw Error(error.code(), file.named(error.message()));
    }
    file.commit();
    make_room(file.target());
  } catch (const Error& error) {
    log::warn("the latents are not kept and will be made again: " + error.message());
  } catch (const fs::filesystem_error& error) {
    log::warn(
        fmt::format("the cache {} cannot be tidied: {}", folder_.string(), error.code().message()));
  }
}

void LatentCache::make_room(const fs::path& newest) const {
  const std::vector<Kept> files = kept_files(folder_);
  std::uintmax_t sum = 0;
  for (const Kept& kept : files) sum += kept.bytes;
  for (const Kept& kept : files) {
    if (sum <= limit_bytes_) return;
    if (kept.file == newest) continue;
    std::error_code fault;
    if (fs::remove(kept.file, fault)) sum -= kept.bytes;
  }
}

}  // namespace navtalk
