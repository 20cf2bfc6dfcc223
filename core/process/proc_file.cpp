#include "core/process/proc_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "core/base/error.h"
#include "core/base/unique_fd.h"
#include "core/files/whole_file.h"

namespace navtalk {
namespace {

bool proves_absence(int reason) {
  return reason == ENOENT || reason == ESRCH || reason == EACCES || reason == EPERM;
}

std::nullopt_t absent_or_throw(const std::string& path, int reason) {
  if (proves_absence(reason)) return std::nullopt;
  throw Error(Code::failed, "cannot read " + path + ": " + system_message(reason));
}

}  // namespace

std::optional<std::string> read_proc_file(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return absent_or_throw(path, errno);
  std::string text;
  std::array<char, 4096> piece;
  for (;;) {
    const ssize_t got = ::read(fd.value(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    // A process that ended after its file was opened: ESRCH.
    if (got < 0) return absent_or_throw(path, errno);
    if (got == 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace navtalk
