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
#include "core/files/rename_noreplace.h"
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

// By the descriptor, whatever its names lead to by now.
fs::path path_of(const UniqueFd& fd) { return "/proc/self/fd/" + std::to_string(fd.value()); }

UniqueFd open_below(const UniqueFd& folder, const std::string& name, int flags) {
  return UniqueFd(::openat(folder.value(), name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC, 0644));
}

// Waits for the file's bytes piece by piece, so that whoever waits hears of a disk that is slow, and not of one that
// hangs. What the file system cannot do piece by piece is left to fsync. False: errno has the disk's error.
bool sync_in_pieces(int fd, const std::function<void()>& synced) {
  constexpr off_t k_piece = off_t{4} << 20;
  constexpr unsigned k_write =
      SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
  struct stat file = {};
  if (::fstat(fd, &file) != 0) return false;
  for (off_t at = 0; at < file.st_size; at += k_piece) {
    if (::sync_file_range(fd, at, k_piece, k_write) != 0)
      return errno != EIO && errno != ENOSPC && errno != EDQUOT;
    synced();
  }
  return true;
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

void empty_folder(const UniqueFd& folder, const fs::path& shown) {
  try {
    for (const fs::directory_entry& entry : fs::directory_iterator(path_of(folder)))
      fs::remove_all(entry.path());
  } catch (const fs::filesystem_error& error) {
    throw Error(Code::failed, shown.string() + ", left by an earlier run, cannot be emptied: " +
                                  error.code().message());
  }
}

// What cannot be removed stays, as after a crash.
void remove_folder(const UniqueFd& parent, const std::string& name) {
  const UniqueFd folder = open_below(parent, name, O_RDONLY | O_DIRECTORY);
  if (!folder) return;
  try {
    empty_folder(folder, name);
  } catch (const Error&) {
    return;
  }
  ::unlinkat(parent.value(), name.c_str(), AT_REMOVEDIR);
}

// What is there, of this mode, may not be replaced.
void refuse_target(const PartialPath::Options& options, mode_t mode) {
  const bool directory = options.kind == PartialPath::Kind::directory;
  const std::string target = options.target.string();
  if (directory ? !S_ISDIR(mode) : !S_ISREG(mode) && !S_ISLNK(mode))
    throw Error(Code::invalid, target + " exists and is not a " +
                                   (directory ? "folder" : "regular file") +
                                   ": choose another output");
  if (!options.overwrite)
    throw Error(Code::invalid, target + " exists: choose another output, or --force");
}

}  // namespace

void PartialPath::check_file(const fs::path& target, bool overwrite) {
  const Options options{.target = without_trailing_slash(target), .overwrite = overwrite};
  struct stat found = {};
  if (::lstat(options.target.c_str(), &found) == 0) refuse_target(options, found.st_mode);
}

PartialPath::PartialPath(Options options) : options_(std::move(options)) {
  options_.target = without_trailing_slash(options_.target);
  name_ = options_.target.filename();
  partial_name_ = name_ + ".partial";
  partial_ = options_.target;
  partial_ += ".partial";
  open_folder();
  check_target();
  make_partial();
  path_ = path_of(lock_);
}

void PartialPath::open_folder() {
  const std::string target = options_.target.string();
  const fs::path parent = parent_of(options_.target);
  folder_.reset(::open(parent.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (folder_) return;
  if (errno == ENOENT)
    throw Error(Code::not_found, target + ": the folder " + parent.string() + " does not exist");
  if (errno == ENOTDIR)
    throw Error(Code::invalid, target + ": " + parent.string() + " is not a folder");
  fail(options_.target, errno);
}

void PartialPath::check_target() const {
  const std::string target = options_.target.string();
  // The link itself would be replaced, so a link counts as what it is.
  struct stat found = {};
  if (::fstatat(folder_.value(), name_.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) return;
  refuse_target(options_, found.st_mode);
  if (is_directory() && !may_replace_folder())
    throw Error(Code::invalid, target + " holds other things than an earlier output: " +
                                   "remove it yourself, or choose another output");
}

bool PartialPath::may_replace_folder() const {
  const UniqueFd there = open_below(folder_, name_, O_RDONLY | O_DIRECTORY);
  if (!there) return false;
  std::error_code unknown;
  if (fs::is_empty(path_of(there), unknown)) return true;
  struct stat marker = {};
  return !options_.marker.empty() &&
         ::fstatat(there.value(), options_.marker.c_str(), &marker, AT_SYMLINK_NOFOLLOW) == 0;
}

void PartialPath::make_partial() {
  const int flags = is_directory() ? O_RDONLY | O_DIRECTORY : O_RDWR | O_CREAT;
  do {
    if (is_directory() && ::mkdirat(folder_.value(), partial_name_.c_str(), 0755) != 0 &&
        errno != EEXIST)
      fail(partial_, errno);
    lock_ = open_below(folder_, partial_name_, flags);
    if (!lock_) fail(partial_, errno);
    if (::flock(lock_.value(), LOCK_EX | LOCK_NB) != 0)
      throw Error(Code::failed, options_.target.string() + " is being written by another run");
  } while (!is_in_place());  // another run renamed or removed it meanwhile
  refuse_foreign(lock_.value(), partial_);
  if (!is_directory()) {
    if (::ftruncate(lock_.value(), 0) != 0) fail(partial_, errno);
  } else if (!options_.resume) {
    empty_folder(lock_, partial_);
  }
}

// Does TARGET.partial still name what was opened?
bool PartialPath::is_in_place() const {
  struct stat opened = {}, named = {};
  return ::fstat(lock_.value(), &opened) == 0 &&
         ::fstatat(folder_.value(), partial_name_.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

PartialPath::~PartialPath() {
  if (!active_ || !is_in_place()) return;
  if (is_directory()) {
    remove_folder(folder_, partial_name_);
  } else {
    ::unlinkat(folder_.value(), partial_name_.c_str(), 0);
  }
}

PartialPath::PartialPath(PartialPath&& other) noexcept
    : options_(std::move(other.options_)),
      name_(std::move(other.name_)),
      partial_name_(std::move(other.partial_name_)),
      partial_(std::move(other.partial_)),
      path_(std::move(other.path_)),
      folder_(std::move(other.folder_)),
      lock_(std::move(other.lock_)),
      active_(std::exchange(other.active_, false)) {}

std::string PartialPath::named(std::string message) const {
  const std::string path = path_.string();
  for (std::size_t at = 0; (at = message.find(path, at)) != std::string::npos;) {
    const char next = at + path.size() < message.size() ? message[at + path.size()] : ' ';
    const bool longer = next >= '0' && next <= '9';  // another descriptor
    if (!longer) message.replace(at, path.size(), partial_.string());
    at += longer ? path.size() : partial_.string().size();
  }
  return message;
}

void PartialPath::commit(const std::function<void()>& synced) {
  const fs::path& target = options_.target;
  if (!is_in_place())
    throw Error(Code::failed, partial_.string() + " was moved or replaced while it was written");
  if (synced && !is_directory() && !sync_in_pieces(lock_.value(), synced)) fail(target, errno);
  if ((is_directory() ? ::syncfs(lock_.value()) : ::fsync(lock_.value())) != 0) fail(target, errno);
  if (::fchmod(lock_.value(), usual_mode(is_directory())) != 0) fail(target, errno);
  put_in_place();
  active_ = false;
  const UniqueFd folder = open_below(folder_, ".", O_RDONLY | O_DIRECTORY);
  if (folder) ::fsync(folder.value());  // the name too survives a power cut
}

void PartialPath::put_in_place() const {
  const int folder = folder_.value();
  int error = rename_noreplace(folder, partial_name_, name_);
  if (error == EEXIST && options_.overwrite) {
    const unsigned flags = is_directory() ? RENAME_EXCHANGE : 0U;
    const int rc = ::renameat2(folder, partial_name_.c_str(), folder, name_.c_str(), flags);
    error = rc == 0 ? 0 : errno;
    if (rc == 0 && is_directory()) remove_folder(folder_, partial_name_);  // the old output
  }
  if (error != 0) fail(options_.target, error);
}

void PartialPath::keep_partial() { active_ = false; }

}  // namespace navtalk
