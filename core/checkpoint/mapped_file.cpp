#include "core/checkpoint/mapped_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/error.h"
#include "core/checkpoint/truncation_guard.h"

namespace navtalk {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, int reason) {
  const bool absent = reason == ENOENT || reason == ENOTDIR;
  throw Error(absent ? Code::not_found : Code::failed,
              absent ? fmt::format("{}: no such file", path.native())
                     : fmt::format("cannot read {}: {}", path.native(), std::strerror(reason)));
}

[[noreturn]] void fail_shrunk(const std::filesystem::path& path) {
  throw Error(Code::failed, fmt::format("{} was cut while it was being read", path.native()));
}

// Anonymous memory instead of a vector, so that both kinds are released alike.
std::byte* memory(std::uint64_t size, const std::filesystem::path& path) {
  void* address = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) fail(path, errno);
  return static_cast<std::byte*>(address);
}

// 0, or errno; ENODATA when the file ends early.
int read_all(int file, std::byte* out, std::uint64_t size) {
  for (std::uint64_t done = 0; done < size;) {
    const ssize_t got = ::pread(file, out + done, size - done, static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got == 0 ? ENODATA : errno;
    done += static_cast<std::uint64_t>(got);
  }
  return 0;
}

}  // namespace

MappedFile MappedFile::open(const std::filesystem::path& path, std::uint64_t max_bytes,
                            std::uint64_t read_at_most) {
  // O_NONBLOCK: a pipe without a writer is refused below, not waited for.
  UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (!file || ::fstat(file.value(), &status) != 0) fail(path, errno);
  if (!S_ISREG(status.st_mode))
    throw Error(Code::invalid, fmt::format("{}: not a regular file", path.native()));
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size > max_bytes)
    throw Error(Code::invalid, fmt::format("{}: {} bytes are more than the limit of {}",
                                           path.native(), size, max_bytes));
  MappedFile mapped;
  mapped.path_ = path;
  if (size == 0) return mapped;
  if (size <= read_at_most) {
    std::byte* const bytes = memory(size, path);
    mapped.bytes_ = {bytes, size};
    const int reason = read_all(file.value(), bytes, size);
    if (reason == ENODATA) fail_shrunk(path);
    if (reason != 0) fail(path, reason);
    return mapped;
  }
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.value(), 0);
  if (address == MAP_FAILED) fail(path, errno);
  mapped.bytes_ = {static_cast<const std::byte*>(address), size};
  mapped.file_ = std::move(file);
  guard_against_truncation(mapped.bytes_);
  return mapped;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : bytes_(std::exchange(other.bytes_, std::span<const std::byte>())),
      file_(std::move(other.file_)),
      path_(std::move(other.path_)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  std::swap(file_, other.file_);
  std::swap(path_, other.path_);
  return *this;
}

MappedFile::~MappedFile() {
  if (bytes_.empty()) return;
  if (file_) end_guard(bytes_);
  ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

void MappedFile::check() const {
  if (!file_) return;
  struct stat status {};
  if (::fstat(file_.value(), &status) != 0) fail(path_, errno);
  if (static_cast<std::uint64_t>(status.st_size) < bytes_.size() || was_cut(bytes_))
    fail_shrunk(path_);
}

}  // namespace navtalk
