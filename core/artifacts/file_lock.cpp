#include "core/artifacts/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>

#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/base/sleep.h"
#include "core/files/whole_file.h"

namespace navtalk {
namespace {

// flock() cannot be told to stop, so that the lock is tried again and again.
constexpr std::chrono::milliseconds k_between_tries{50};

// Does the name still lead to what was opened? Whoever had the lock may have renamed or removed it.
bool is_named(const UniqueFd& file, const std::filesystem::path& path) {
  struct stat opened = {}, named = {};
  return ::fstat(file.value(), &opened) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

std::optional<UniqueFd> locked(const std::filesystem::path& path, int flags, int operation) {
  UniqueFd file(::open(path.c_str(), flags | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (!file || ::flock(file.value(), operation | LOCK_NB) != 0 || !is_named(file, path))
    return std::nullopt;
  return file;
}

}  // namespace

UniqueFd lock_file(const std::filesystem::path& path, const std::stop_token& stop) {
  for (;;) {
    UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644));
    if (!file)
      throw Error(Code::failed, path.native() + " cannot be written: " + system_message(errno));
    while (::flock(file.value(), LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK && errno != EINTR)
        throw Error(Code::failed, path.native() + " cannot be locked: " + system_message(errno));
      if (!sleep_for(k_between_tries, stop)) throw_if_stopped(stop);
    }
    if (is_named(file, path)) return file;
  }
}

std::optional<UniqueFd> lock_now(const std::filesystem::path& path) {
  return locked(path, O_RDWR | O_CREAT, LOCK_EX);
}

std::optional<UniqueFd> try_lock(const std::filesystem::path& path) {
  return locked(path, O_RDONLY, LOCK_EX);
}

std::optional<UniqueFd> use_folder(const std::filesystem::path& path) {
  return locked(path, O_RDONLY | O_DIRECTORY, LOCK_SH);
}

}  // namespace navtalk
