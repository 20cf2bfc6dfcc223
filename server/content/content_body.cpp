#include "server/content/content_body.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace navtalk::server {
namespace {

constexpr std::uint64_t k_piece = std::uint64_t{256} << 10;  // bytes

UniqueFd open_to_read(const std::filesystem::path& path) {
  return UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
}

}  // namespace

// Bytes of the open file; 0 when there is none.
std::uint64_t ContentBody::size() const {
  struct stat facts = {};
  if (!fd_ || ::fstat(fd_.value(), &facts) != 0 || !S_ISREG(facts.st_mode)) return 0;
  return std::min(static_cast<std::uint64_t>(facts.st_size), file_.bytes);
}

// A download that is over keeps its file, under another name. What was opened under the name of a download may be an
// empty file: of one that found the content complete.
std::uint64_t ContentBody::open() {
  if (!fd_) fd_ = open_to_read(cache_.partial_path(file_));
  if (const std::uint64_t there = size(); there > at_ || sent_) return there;
  if (UniqueFd whole = open_to_read(cache_.blob_path(file_))) fd_ = std::move(whole);
  return size();
}

std::string ContentBody::read() {
  if (spoilt_ || at_end()) return "";
  const std::uint64_t there = open();
  spoilt_ = there < at_ && sent_;
  if (there <= at_) return "";
  std::string piece(std::min({k_piece, there - at_, end_ - at_}), '\0');
  const auto got = ::pread(fd_.value(), piece.data(), piece.size(), static_cast<off_t>(at_));
  piece.resize(static_cast<std::size_t>(std::max<ssize_t>(0, got)));
  at_ += piece.size();
  sent_ = sent_ || !piece.empty();
  return piece;
}

}  // namespace navtalk::server
