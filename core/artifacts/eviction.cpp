#include "core/artifacts/eviction.h"

#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/artifacts/file_lock.h"
#include "core/artifacts/manifest.h"
#include "core/artifacts/verified_content.h"
#include "core/log/log.h"

namespace navtalk {
namespace {

namespace fs = std::filesystem;

constexpr const char* k_evicting = "evicting";
constexpr const char* k_removed = ".removed";

using Inode = std::pair<dev_t, ino_t>;

struct Content {
  std::uint64_t bytes = 0;
  fs::path blob{};  // or the partial blob; empty: only versions have it
  bool partial = false;
  std::int64_t used_ns = 0;       // of a blob: when it was written
  std::set<fs::path> versions{};  // that have it
};

struct Candidate {
  std::int64_t used_ns = 0;
  fs::path version{};  // empty: content that no version has
  Inode inode{};
};

std::int64_t nanoseconds(const timespec& time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

template <class Visit>
void each_entry(const fs::path& folder, const Visit& visit) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    visit(it->path());
}

// Of content that went.
void remove_old_records(const fs::path& cache) {
  each_entry(cache / k_verified, [&](const fs::path& record) {
    std::error_code ignored;
    if (!fs::exists(cache / "blobs" / record.filename(), ignored)) fs::remove(record, ignored);
  });
}

bool is_folder(const fs::path& path) {
  struct stat status = {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

// What is there, and what of it may go.
class Inventory {
 public:
  explicit Inventory(const fs::path& cache) {
    each_entry(cache / "blobs", [&](const fs::path& file) { add_content(file, false); });
    each_entry(cache / "partial", [&](const fs::path& file) { add_content(file, true); });
    for (const ArtifactKind kind : {ArtifactKind::model, ArtifactKind::avatar}) {
      each_entry(cache / folder(kind), [&](const fs::path& name) { add_name(name); });
    }
  }

  std::uint64_t bytes() const { return bytes_; }

  // In the order of their last use.
  std::vector<Candidate> candidates() const {
    std::vector<Candidate> found;
    for (const auto& [version, used_ns] : versions_)
      found.push_back({.used_ns = used_ns, .version = version});
    for (const auto& [inode, content] : contents_) {
      if (content.versions.empty()) found.push_back({.used_ns = content.used_ns, .inode = inode});
    }
    std::sort(found.begin(), found.end(),
              [](const Candidate& a, const Candidate& b) { return a.used_ns < b.used_ns; });
    return found;
  }

  void remove(const Candidate& candidate) {
    if (candidate.version.empty()) return remove_content(contents_.at(candidate.inode));
    {
      const auto lock = try_lock(candidate.version);
      if (!lock) return;  // in use
      remove_version(candidate.version);
    }
    log::info("removed from the cache", {{"folder", candidate.version.native()}});
    for (auto& [inode, content] : contents_) {
      if (content.versions.erase(candidate.version) > 0 && content.versions.empty())
        remove_content(content);
    }
  }

 private:
  Content* add(const fs::path& file, struct stat& status) {
    if (::lstat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return nullptr;
    const auto [place, fresh] = contents_.try_emplace({status.st_dev, status.st_ino});
    if (fresh) {
      place->second.bytes = static_cast<std::uint64_t>(status.st_size);
      bytes_ += place->second.bytes;
    }
    return &place->second;
  }

  void add_content(const fs::path& file, bool partial) {
    struct stat status = {};
    Content* content = add(file, status);
    if (content == nullptr) return;
    content->blob = file;
    content->partial = partial;
    content->used_ns = nanoseconds(status.st_mtim);
  }

  void add_name(const fs::path& name) {
    each_entry(name, [&](const fs::path& version) {
      if (!is_folder(version)) return;
      if (version.extension() == k_removed) return remove_left(version);
      if (version.extension() == k_unfinished) {
        // Nobody puts a version of this name together: it was left by a process that was killed.
        if (const auto lock = try_lock(name / k_version_lock)) return remove_left(version);
        return add_files(version, version);  // its content is in use
      }
      struct stat status = {};
      if (::lstat(version.c_str(), &status) != 0) return;
      versions_.emplace(version, nanoseconds(status.st_mtim));
      add_files(version, version);
    });
  }

  void add_files(const fs::path& folder, const fs::path& version) {
    each_entry(folder, [&](const fs::path& path) {
      if (is_folder(path)) return add_files(path, version);
      struct stat status = {};
      if (Content* content = add(path, status)) content->versions.insert(version);
    });
  }

  static void remove_left(const fs::path& folder) {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }

  void remove_content(const Content& content) {
    std::error_code error;
    if (content.blob.empty()) {
      bytes_ -= content.bytes;  // went with the last version that had it
      return;
    }
    const auto lock = content.partial ? try_lock(content.blob) : UniqueFd();
    if (!lock) return;  // it is being fetched
    if (fs::remove(content.blob, error)) bytes_ -= content.bytes;
  }

  std::map<Inode, Content> contents_;
  std::map<fs::path, std::int64_t> versions_;
  std::uint64_t bytes_ = 0;
};

}  // namespace

void remove_version(const fs::path& version) {
  fs::path removed = version;
  removed += k_removed;
  std::error_code error;
  fs::remove_all(removed, error);
  fs::rename(version, removed, error);
  if (!error) fs::remove_all(removed, error);
}

void evict(const fs::path& cache, std::uint64_t most) {
  const auto turn = lock_now(cache / k_evicting);
  if (!turn) return;
  remove_old_records(cache);
  Inventory inventory(cache);
  if (inventory.bytes() <= most) return;
  for (const Candidate& candidate : inventory.candidates()) {
    if (inventory.bytes() <= most) return;
    inventory.remove(candidate);
  }
}

}  // namespace navtalk
