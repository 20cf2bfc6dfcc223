#include "core/checkpoint/mapped_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/error.h"
#include "core/base/unique_fd.h"

namespace navtalk {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, int reason) {
  const bool absent = reason == ENOENT || reason == ENOTDIR;
  throw Error(absent ? Code::not_found : Code::failed,
              absent ? fmt::format("{}: no such file", path.native())
                     : fmt::format("cannot read {}: {}", path.native(), std::strerror(reason)));
}

}  // namespace

MappedFile MappedFile::open(const std::filesystem::path& path, std::uint64_t max_bytes) {
  // O_NONBLOCK: a pipe without a writer is refused below, not waited for.
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (!file || ::fstat(file.value(), &status) != 0) fail(path, errno);
  if (!S_ISREG(status.st_mode))
    throw Error(Code::invalid, fmt::format("{}: not a regular file", path.native()));
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size > max_bytes)
    throw Error(Code::invalid, fmt::format("{}: {} bytes are more than the limit of {}",
                                           path.native(), size, max_bytes));
  if (size == 0) return MappedFile({});
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.value(), 0);
  if (address == MAP_FAILED) fail(path, errno);
  return MappedFile({static_cast<const std::byte*>(address), size});
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : bytes_(std::exchange(other.bytes_, std::span<const std::byte>())) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace navtalk
