#include "core/artifacts/partial_blob.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "core/artifacts/file_lock.h"
#include "core/base/error.h"
#include "core/checkpoint/checkpoint.h"
#include "core/files/whole_file.h"

namespace navtalk {

PartialBlob::PartialBlob(std::filesystem::path path, std::uint64_t bytes,
                         const std::stop_token& stop)
    : path_(std::move(path)), bytes_(bytes), file_(lock_file(path_, stop)) {
  struct stat status = {};
  if (::fstat(file_.value(), &status) != 0) fail(errno);
  size_ = static_cast<std::uint64_t>(status.st_size);
  // Of a cache that somebody else wrote to: more than the whole cannot be its beginning.
  if (size_ > bytes_) restart();
}

void PartialBlob::fail(int reason) const {
  throw Error(Code::failed, path_.native() + " cannot be written: " + system_message(reason));
}

void PartialBlob::restart() {
  if (::ftruncate(file_.value(), 0) != 0) fail(errno);
  size_ = 0;
  if (on_growth) on_growth(size_);
}

bool PartialBlob::append(std::string_view bytes) {
  if (bytes.size() > bytes_ - size_) return false;
  while (!bytes.empty()) {
    const ssize_t put =
        ::pwrite(file_.value(), bytes.data(), bytes.size(), static_cast<off_t>(size_));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail(errno);
    size_ += static_cast<std::uint64_t>(put);
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  if (on_growth) on_growth(size_);
  return true;
}

bool PartialBlob::is_whole(const std::string& sha256) const {
  return size_ == bytes_ && sha256_file(path_) == sha256;
}

void PartialBlob::become(const std::filesystem::path& blob) {
  // First the content, then its name: a crash leaves no name without content.
  if (::fsync(file_.value()) != 0 || ::rename(path_.c_str(), blob.c_str()) != 0 ||
      ::fchmod(file_.value(), 0444) != 0) {
    fail(errno);
  }
}

}  // namespace navtalk
