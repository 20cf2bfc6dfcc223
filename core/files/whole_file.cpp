#include "core/files/whole_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <system_error>

#include "core/base/error.h"
#include "core/base/shortage.h"

namespace navtalk {

std::string system_message(int error_number) {
  return std::generic_category().message(error_number);
}

namespace {

// EIO and ESTALE are of a disk or a server that is away, whatever the file is.
[[noreturn]] void fail_reading(const std::filesystem::path& path, int reason) {
  const bool ours = is_shortage(reason) || reason == EIO || reason == ESTALE;
  throw Error(ours ? Code::failed : Code::invalid,
              path.string() + " cannot be read: " + system_message(reason));
}

}  // namespace

UniqueFd open_input(const std::filesystem::path& path) {
  // Opening a pipe would wait for its writer, deaf to Ctrl-C; without one it is an empty input.
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) {
    const int reason = errno;
    const bool missing = reason == ENOENT || reason == ENOTDIR;
    if (missing) throw Error(Code::not_found, path.string() + ": there is no such file");
    fail_reading(path, reason);
  }
  struct stat status = {};
  if (::fstat(fd.value(), &status) != 0) fail_reading(path, errno);
  if (S_ISDIR(status.st_mode))
    throw Error(Code::invalid, path.string() + " is a directory, a file is needed");
  if (S_ISREG(status.st_mode) && status.st_size == 0)
    throw Error(Code::invalid, path.string() + " is empty");
  ::fcntl(fd.value(), F_SETFL, 0);  // reads wait again
  return fd;
}

std::vector<std::uint8_t> read_file(const std::filesystem::path& path) {
  const UniqueFd fd = open_input(path);
  std::vector<std::uint8_t> bytes;
  std::size_t filled = 0;
  for (;;) {
    if (filled == bytes.size()) bytes.resize(std::max<std::size_t>(1 << 16, 2 * filled));
    const ssize_t got = ::read(fd.value(), bytes.data() + filled, bytes.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_reading(path, errno);
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  bytes.resize(filled);
  return bytes;
}

void write_file(const std::filesystem::path& path, std::span<const std::uint8_t> bytes) {
  const auto fail = [&path](int reason) {
    throw Error(Code::failed, path.string() + " cannot be written: " + system_message(reason));
  };
  const std::filesystem::path parent = path.has_parent_path() ? path.parent_path() : ".";
  const std::string name = path.filename();
  const UniqueFd folder(::open(parent.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder) fail(errno);
  const UniqueFd fd(::openat(folder.value(), name.c_str(),
                             O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!fd) fail(errno);
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd.value(), bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      const int reason = errno;
      struct stat status = {};
      if (::fstat(fd.value(), &status) == 0 && S_ISREG(status.st_mode))
        ::unlinkat(folder.value(), name.c_str(), 0);
      fail(reason);
    }
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
}

}  // namespace navtalk
