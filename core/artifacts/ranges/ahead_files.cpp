#include "core/artifacts/ranges/ahead_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <string>

#include "core/base/error.h"
#include "core/files/whole_file.h"
#include "core/text/number.h"

namespace navtalk {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t k_moved_piece = std::uint64_t{1} << 20;  // bytes

// Where the ranges begin that have a file.
std::map<std::uint64_t, fs::path> ahead_files(const fs::path& blob) {
  const std::string head = blob.filename().native() + ".";
  std::map<std::uint64_t, fs::path> found;
  std::error_code error;
  for (fs::directory_iterator it(blob.parent_path(), error), end; !error && it != end;
       it.increment(error)) {
    const std::string name = it->path().filename();
    if (!name.starts_with(head)) continue;
    if (const auto first = parse_number<std::uint64_t>(name.substr(head.size())))
      found.emplace(*first, it->path());
  }
  return found;
}

}  // namespace

AheadFiles::AheadFiles(PartialBlob& blob) : blob_(blob) {
  std::uint64_t at = std::max<std::uint64_t>(1, blob.size());
  for (const auto& [first, path] : ahead_files(blob.path())) {
    File file{.fd = UniqueFd(::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC))};
    struct stat status = {};
    if (file.fd && ::fstat(file.fd.value(), &status) == 0)
      file.bytes = static_cast<std::uint64_t>(status.st_size);
    const bool useful = first >= at && file.bytes > 0 && first < blob.wanted() &&
                        file.bytes <= blob.wanted() - first;
    if (useful) {
      at = first + file.bytes;
      files_.emplace(first, std::move(file));
    } else {
      ::unlink(path.c_str());
    }
  }
}

std::vector<AheadFiles::Kept> AheadFiles::kept() const {
  std::vector<Kept> all;
  for (const auto& [first, file] : files_) all.push_back({.first = first, .bytes = file.bytes});
  return all;
}

fs::path AheadFiles::place(std::uint64_t first) const {
  return blob_.path().native() + "." + std::to_string(first);
}

void AheadFiles::fail(std::uint64_t first, int reason) const {
  throw Error(Code::failed,
              place(first).native() + " cannot be written: " + system_message(reason));
}

void AheadFiles::append(std::uint64_t first, std::string_view bytes) {
  File& file = files_[first];
  if (!file.fd) {
    file.fd.reset(
        ::open(place(first).c_str(), O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644));
    if (!file.fd) fail(first, errno);
  }
  while (!bytes.empty()) {
    const ssize_t put =
        ::pwrite(file.fd.value(), bytes.data(), bytes.size(), static_cast<off_t>(file.bytes));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail(first, errno);
    file.bytes += static_cast<std::uint64_t>(put);
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
}

void AheadFiles::move_to_blob(std::uint64_t first) {
  const File file = std::move(files_.at(first));
  files_.erase(first);
  std::string piece;
  for (std::uint64_t at = 0; at < file.bytes; at += piece.size()) {
    piece.resize(std::min(k_moved_piece, file.bytes - at));
    const ssize_t got =
        ::pread(file.fd.value(), piece.data(), piece.size(), static_cast<off_t>(at));
    if (got < 0 && errno != EINTR) fail(first, errno);
    if (got == 0) fail(first, EIO);  // somebody made it shorter
    piece.resize(static_cast<std::size_t>(std::max<ssize_t>(0, got)));
    blob_.append(piece);
  }
  ::unlink(place(first).c_str());
}

void remove_ahead_files(const PartialBlob& blob) {
  for (const auto& [first, path] : ahead_files(blob.path())) ::unlink(path.c_str());
}

}  // namespace navtalk
