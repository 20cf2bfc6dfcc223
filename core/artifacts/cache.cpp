#include "core/artifacts/cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <span>

#include "core/artifacts/eviction.h"
#include "core/artifacts/file_lock.h"
#include "core/base/error.h"
#include "core/base/id.h"
#include "core/base/interrupt.h"
#include "core/files/partial_path.h"
#include "core/files/whole_file.h"

namespace navtalk {
namespace {

namespace fs = std::filesystem;

constexpr const char* k_blobs = "blobs";
constexpr const char* k_partial = "partial";
constexpr const char* k_manifest = "manifest.json";
constexpr const char* k_id = "id";

void make_folders(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw Error(Code::failed, folder.native() + " cannot be made: " + error.message());
}

bool has_size(const fs::path& file, std::uint64_t bytes) {
  struct stat status = {};
  return ::lstat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         static_cast<std::uint64_t>(status.st_size) == bytes;
}

void replace(const fs::path& from, const fs::path& to) {
  make_folders(to.parent_path());
  if (::rename(from.c_str(), to.c_str()) != 0)
    throw Error(Code::failed, to.native() + " cannot be replaced: " + system_message(errno));
}

// Now is when it was last used.
void touch(int folder) { ::futimens(folder, nullptr); }

}  // namespace

ArtifactCache::ArtifactCache(fs::path folder, std::uint64_t max_bytes)
    : folder_(std::move(folder)), max_bytes_(max_bytes), verified_(folder_ / k_verified) {
  make_folders(folder_ / k_blobs);
  make_folders(folder_ / k_partial);
}

fs::path ArtifactCache::place(ArtifactKind kind, const std::string& name) const {
  return folder_ / navtalk::folder(kind) / name;
}

fs::path ArtifactCache::version(const ArtifactManifest& manifest) const {
  return place(manifest.kind, manifest.name) / manifest.digest();
}

fs::path ArtifactCache::blob(const ArtifactFile& file) const {
  return folder_ / k_blobs / file.sha256;
}

std::optional<CachedFolder> ArtifactCache::find(const ArtifactManifest& manifest) const {
  const fs::path path = version(manifest);
  std::optional<UniqueFd> use = use_folder(path);
  if (!use) return std::nullopt;
  for (const ArtifactFile& file : manifest.files) {
    if (!verified_.verify(path / file.path, file)) return std::nullopt;
  }
  touch(use->value());
  return CachedFolder{.path = path, .use = std::move(*use)};
}

std::optional<ArtifactManifest> ArtifactCache::last(ArtifactKind kind,
                                                    const std::string& name) const {
  try {
    const std::vector<std::uint8_t> bytes = read_file(place(kind, name) / k_manifest);
    return parse_manifest({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, kind, name);
  } catch (const Error&) {
    return std::nullopt;  // none was fetched, or it is of another navtalk
  }
}

void ArtifactCache::remember(const ArtifactManifest& manifest) const {
  PartialPath file({.target = place(manifest.kind, manifest.name) / k_manifest, .overwrite = true});
  const std::string text = manifest_text(manifest);
  const UniqueFd out(::open(file.path().c_str(), O_WRONLY | O_CLOEXEC));
  if (!out || ::write(out.value(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    throw Error(Code::failed,
                file.target().native() + " cannot be written: " + system_message(errno));
  file.commit();
}

UniqueFd ArtifactCache::begin(const ArtifactManifest& manifest, const std::stop_token& stop) const {
  make_folders(place(manifest.kind, manifest.name));
  return lock_file(place(manifest.kind, manifest.name) / k_version_lock, stop);
}

bool ArtifactCache::has_blob(const ArtifactFile& file) const {
  return has_size(blob(file), file.bytes);
}

bool ArtifactCache::has_right_blob(const ArtifactFile& file) const {
  if (!has_blob(file)) return false;
  if (verified_.verify(blob(file), file)) return true;
  // Another process may have put the right one there just now; then that is fetched once more.
  std::error_code ignored;
  fs::remove(blob(file), ignored);
  verified_.forget(file);
  return false;
}

void ArtifactCache::distrust(const ArtifactManifest& manifest) const {
  for (const ArtifactFile& file : manifest.files) verified_.forget(file);
}

fs::path ArtifactCache::partial_path(const ArtifactFile& file) const {
  return folder_ / k_partial / file.sha256;
}

PartialBlob ArtifactCache::partial(const ArtifactFile& file, const std::stop_token& stop) const {
  return PartialBlob(partial_path(file), file.bytes, stop);
}

std::string ArtifactCache::id() const {
  const fs::path path = folder_ / k_id;
  const auto read = [&]() -> std::string {
    std::ifstream file(path);
    std::string text;
    return std::getline(file, text) ? text : "";
  };
  if (std::string known = read(); !known.empty()) return known;
  // Of several processes that write one at the same time the first one counts.
  const fs::path fresh = folder_ / ("id." + random_id());
  std::ofstream(fresh) << random_id() << '\n';
  std::error_code error;
  fs::create_hard_link(fresh, path, error);
  fs::remove(fresh, error);
  std::string made = read();
  if (made.empty()) throw Error(Code::failed, path.native() + " cannot be written");
  return made;
}

void ArtifactCache::keep(PartialBlob& blob, const ArtifactFile& file) const {
  blob.become(this->blob(file));
  verified_.record(this->blob(file), file);
}

std::optional<CachedFolder> ArtifactCache::assemble(const ArtifactManifest& manifest) const {
  const fs::path path = version(manifest);
  fs::path unfinished = path;
  unfinished += k_unfinished;
  std::error_code error;
  fs::remove_all(unfinished, error);  // of a process that was killed
  for (const ArtifactFile& file : manifest.files) {
    const fs::path target = unfinished / file.path;
    make_folders(target.parent_path());
    if (::link(blob(file).c_str(), target.c_str()) == 0) continue;
    if (errno == ENOENT) return std::nullopt;
    throw Error(Code::failed, target.native() + " cannot be linked: " + system_message(errno));
  }
  // A version that lacks files, or has wrong ones, stands in the way.
  if (const auto incomplete = try_lock(path)) remove_version(path);
  if (::rename(unfinished.c_str(), path.c_str()) == 0) return find(manifest);
  if (errno != ENOTEMPTY && errno != EEXIST)
    throw Error(Code::failed, path.native() + " cannot be made: " + system_message(errno));
  // It is in use: who has opened a file keeps that one.
  for (const ArtifactFile& file : manifest.files) replace(unfinished / file.path, path / file.path);
  fs::remove_all(unfinished, error);
  return find(manifest);
}

void ArtifactCache::make_room(std::uint64_t coming) const {
  if (max_bytes_ > 0) evict(folder_, coming >= max_bytes_ ? 0 : max_bytes_ - coming);
}

}  // namespace navtalk
