#include "core/files/partial_path.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <string>
#include <system_error>

#include "core/base/error.h"
#include "core/files/whole_file.h"

namespace navtalk {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void fail(const fs::path& path, int reason) {
  throw Error(Code::failed, path.string() + " cannot be written: " + system_message(reason));
}

// "out/" names the same directory as "out"; a name is needed to put ".partial" behind.
fs::path without_trailing_slash(const fs::path& target) {
  fs::path path = target.lexically_normal();
  if (!path.empty() && !path.has_filename()) path = path.parent_path();
  const fs::path name = path.filename();
  if (name.empty() || name == "." || name == "..")
    throw Error(Code::invalid, "\"" + target.string() + "\" does not name an output");
  return path;
}

fs::path parent_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

// Whether `fd` still is what `path` names: another run may have renamed or removed it meanwhile.
bool same_file(int fd, const fs::path& path) {
  struct stat opened = {}, named = {};
  return ::fstat(fd, &opened) == 0 && ::stat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

// Somebody else could have put it there, with links inside that lead anywhere, or could change it
// while it is written.
void refuse_foreign(int fd, const fs::path& partial) {
  struct stat found = {};
  if (::fstat(fd, &found) != 0) fail(partial, errno);
  const auto refuse = [&](const char* why) {
    throw Error(Code::failed,
                partial.string() + " " + why + ": remove it, or choose another output");
  };
  if (found.st_uid != ::geteuid()) refuse("belongs to another user");
  if ((found.st_mode & (S_IWGRP | S_IWOTH)) != 0) refuse("can be written by other users");
  if (S_ISREG(found.st_mode) && found.st_nlink > 1) refuse("has another name too");
}

// The permissions that a new file or folder gets. Asking umask() would change it for all threads.
mode_t usual_mode(bool directory) {
  const mode_t all = directory ? 0777 : 0666;
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    mode_t mask = 0;
    if (word == "Umask:" && status >> std::oct >> mask) return all & ~mask;
  }
  return all & ~mode_t{022};
}

void empty_folder(const fs::path& folder) {
  try {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder))
      fs::remove_all(entry.path());
  } catch (const fs::filesystem_error& error) {
    throw Error(Code::failed, folder.string() + ", left by an earlier run, cannot be emptied: " +
                                  error.code().message());
  }
}

// Moves `partial` to `target`; what stood there ends up at `partial` (and is removed) or is an
// error when nothing may be replaced.
void rename_over(const fs::path& partial, const fs::path& target, bool overwrite, bool directory) {
  const auto rename = [&](unsigned flags) {
    return ::renameat2(AT_FDCWD, partial.c_str(), AT_FDCWD, target.c_str(), flags);
  };
  int rc = rename(RENAME_NOREPLACE);
  if (rc != 0 && errno == EEXIST && overwrite) {
    rc = rename(directory ? RENAME_EXCHANGE : 0U);
    std::error_code ignored;  // the old output's remains do not make the new one wrong
    if (rc == 0 && directory) fs::remove_all(partial, ignored);
  } else if (rc != 0 && errno == EINVAL) {  // a file system without these flags
    rc = rename(0);
  }
  if (rc != 0) fail(target, errno);
}

}  // namespace

PartialPath::PartialPath(Options options) : options_(std::move(options)) {
  options_.target = without_trailing_slash(options_.target);
  partial_ = options_.target;
  partial_ += ".partial";
  check_target();
  make_partial();
}

void PartialPath::check_target() const {
  const fs::path& target = options_.target;
  const fs::path parent = parent_of(target);
  std::error_code error;
  const fs::file_status folder = fs::status(parent, error);
  if (!fs::exists(folder))
    throw Error(Code::not_found,
                target.string() + ": the folder " + parent.string() + " does not exist");
  if (!fs::is_directory(folder))
    throw Error(Code::invalid, target.string() + ": " + parent.string() + " is not a folder");

  // The link itself would be replaced, so a link counts as what it is.
  const fs::file_status status = fs::symlink_status(target, error);
  if (!fs::exists(status)) return;
  const bool directory = options_.kind == Kind::directory;
  if (directory ? !fs::is_directory(status)
                : !fs::is_regular_file(status) && !fs::is_symlink(status))
    throw Error(Code::invalid, target.string() + " exists and is not a " +
                                   (directory ? "folder" : "regular file") +
                                   ": choose another output");
  if (!options_.overwrite)
    throw Error(Code::invalid, target.string() + " exists: choose another output, or --force");
  if (directory && !fs::is_empty(target, error) &&
      (options_.marker.empty() || !fs::exists(target / options_.marker, error)))
    throw Error(Code::invalid, target.string() + " holds other things than an earlier output: " +
                                   "remove it yourself, or choose another output");
}

void PartialPath::make_partial() {
  const bool directory = options_.kind == Kind::directory;
  for (;;) {
    if (directory && ::mkdir(partial_.c_str(), 0755) != 0 && errno != EEXIST) fail(partial_, errno);
    const int flags = directory ? O_RDONLY | O_DIRECTORY : O_RDWR | O_CREAT;
    lock_.reset(::open(partial_.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (!lock_) fail(partial_, errno);
    if (::flock(lock_.value(), LOCK_EX | LOCK_NB) != 0)
      throw Error(Code::failed, options_.target.string() + " is being written by another run");
    if (same_file(lock_.value(), partial_)) break;
  }
  refuse_foreign(lock_.value(), partial_);
  if (!directory) {
    if (::ftruncate(lock_.value(), 0) != 0) fail(partial_, errno);
  } else if (!options_.resume) {
    empty_folder(partial_);
  }
}

PartialPath::~PartialPath() {
  if (!active_) return;
  std::error_code ignored;  // what cannot be removed stays as TARGET.partial, as after a crash
  fs::remove_all(partial_, ignored);
}

PartialPath::PartialPath(PartialPath&& other) noexcept
    : options_(std::move(other.options_)),
      partial_(std::move(other.partial_)),
      lock_(std::move(other.lock_)),
      active_(std::exchange(other.active_, false)) {}

void PartialPath::commit() {
  const bool directory = options_.kind == Kind::directory;
  // A writer may have replaced the file by another of this name, so it is opened anew.
  const UniqueFd written(::open(partial_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!written) fail(partial_, errno);
  if ((directory ? ::syncfs(written.value()) : ::fsync(written.value())) != 0)
    fail(options_.target, errno);
  if (::fchmod(written.value(), usual_mode(directory)) != 0) fail(options_.target, errno);
  rename_over(partial_, options_.target, options_.overwrite, directory);
  active_ = false;
  const UniqueFd parent(
      ::open(parent_of(options_.target).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (parent) ::fsync(parent.value());  // the name too survives a power cut
}

void PartialPath::keep_partial() { active_ = false; }

}  // namespace navtalk
