#include "core/files/fix_filenames.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <system_error>
#include <vector>

#include "core/base/cptr.h"
#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/base/unique_fd.h"
#include "core/files/rename_noreplace.h"
#include "core/text/printable.h"

namespace navtalk {
namespace {

using Outcome = FixedName::Outcome;

// One folder on the way down. Only the deepest k_open_folders of them are open; a parent that was
// closed is opened again through "..", and must then be the folder that it was.
struct Level {
  UniqueFd descriptor;
  dev_t device = 0;
  ino_t inode = 0;
  std::string name;                  // as the parent lists it; empty for the top
  std::vector<std::string> folders;  // still to visit, the next one last
  std::vector<std::string> broken;   // names with carriage returns, sorted
};
constexpr std::size_t k_open_folders = 32;
constexpr int k_folder_flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

std::string reason(int error) { return std::system_category().message(error); }

bool is_folder(int directory, const dirent& entry) {
  if (entry.d_type != DT_UNKNOWN) return entry.d_type == DT_DIR;
  struct stat status {};
  return fstatat(directory, entry.d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISDIR(status.st_mode);
}

// Lists the open folder into the level and counts its entries; 0, or the errno of a failure.
int read_entries(Level& level, std::size_t& count) {
  const int directory = level.descriptor.value();
  const int own = openat(directory, ".", k_folder_flags);  // closedir() closes what it was given
  if (own < 0) return errno;
  const CPtr<DIR, closedir> stream(fdopendir(own));
  for (errno = 0; const dirent* entry = readdir(stream.get()); errno = 0) {
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    ++count;
    if (name.find('\r') != std::string::npos) level.broken.push_back(name);
    if (is_folder(directory, *entry)) level.folders.push_back(name);
  }
  return errno;
}

class Walk {
 public:
  Walk(const FixFilenamesOptions& options, const std::function<void(const FixedName&)>& report,
       const std::function<void(std::size_t)>& seen, const std::stop_token& stop)
      : options_(options), report_(report), seen_(seen), stop_(stop) {}

  FixFilenamesResult run() {
    enter(open_top(), "");
    while (!levels_.empty()) {
      throw_if_stopped(stop_);
      if (levels_.back().folders.empty()) {
        leave();
      } else {
        descend();
      }
    }
    return result_;
  }

 private:
  UniqueFd open_top() const {
    const std::string shown = "'" + printable(options_.directory.native()) + "'";
    UniqueFd top(open(options_.directory.c_str(), k_folder_flags));
    if (top) return top;
    if (errno == ENOENT) throw Error(Code::not_found, "there is no folder " + shown);
    if (errno == ENOTDIR) throw Error(Code::invalid, shown + " is not a folder; name one");
    throw Error(Code::failed, "cannot open the folder " + shown + ": " + reason(errno));
  }

  // Lists the folder and makes it the deepest level.
  void enter(UniqueFd folder, const std::string& name) {
    struct stat status {};
    fstat(folder.value(), &status);
    Level level{.descriptor = std::move(folder),
                .device = status.st_dev,
                .inode = status.st_ino,
                .name = name,
                .folders = {},
                .broken = {}};
    const int error = read_entries(level, result_.seen);
    if (error != 0) add_left(path_of(""), Outcome::failed, "cannot be read: " + reason(error));
    if (seen_) seen_(result_.seen);
    std::sort(level.broken.begin(), level.broken.end());
    std::sort(level.folders.begin(), level.folders.end(), std::greater<>());
    levels_.push_back(std::move(level));
    if (levels_.size() > k_open_folders) {
      levels_[levels_.size() - 1 - k_open_folders].descriptor.reset();
    }
  }

  void descend() {
    const std::string name = std::move(levels_.back().folders.back());
    levels_.back().folders.pop_back();
    UniqueFd folder(
        openat(levels_.back().descriptor.value(), name.c_str(), k_folder_flags | O_NOFOLLOW));
    if (folder) {
      prefix_.append(name).push_back('/');
      enter(std::move(folder), name);
    } else {
      add_left(path_of(name), Outcome::failed, "cannot be opened: " + reason(errno));
    }
  }

  // Repairs the names in the deepest folder, whose subfolders are done, and goes up.
  void leave() {
    claimed_.clear();
    for (const std::string& name : levels_.back().broken) repair(name);
    const Level done = std::move(levels_.back());
    levels_.pop_back();
    if (levels_.empty()) return;
    prefix_.resize(prefix_.size() - done.name.size() - 1);
    if (!levels_.back().descriptor) reopen(levels_.back(), done.descriptor.value());
  }

  void reopen(Level& parent, int child) const {
    parent.descriptor = UniqueFd(openat(child, "..", k_folder_flags));
    struct stat status {};
    const bool same = parent.descriptor && fstat(parent.descriptor.value(), &status) == 0 &&
                      status.st_dev == parent.device && status.st_ino == parent.inode;
    if (!same) {
      throw Error(Code::failed, "the folder '" + printable(prefix_) +
                                    "' was moved or closed to us meanwhile; run the command again");
    }
  }

  void repair(const std::string& name) {
    throw_if_stopped(stop_);
    const std::string target = without_carriage_returns(name);
    if (target.empty() || target == "." || target == "..") {
      return add_left(
          path_of(name), Outcome::no_name_left,
          target.empty() ? "nothing but carriage returns" : "the name would be '" + target + "'");
    }
    const int error = options_.dry_run
                          ? foresee(target)
                          : rename_noreplace(levels_.back().descriptor.value(), name, target);
    FixedName fixed{
        .from = path_of(name), .to = path_of(target), .outcome = Outcome::renamed, .reason = ""};
    if (error == 0) {
      ++result_.renamed;
    } else {
      ++result_.left;
      fixed.outcome = error == EEXIST ? Outcome::collision : Outcome::failed;
      fixed.reason = error == EEXIST ? "that name is taken" : reason(error);
    }
    report_(fixed);
  }

  // What renaming to `target` in the deepest folder would answer.
  int foresee(const std::string& target) {
    const int directory = levels_.back().descriptor.value();
    struct stat status {};
    if (fstatat(directory, target.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) return EEXIST;
    if (faccessat(directory, ".", W_OK | X_OK, AT_EACCESS) != 0) return errno;
    return claimed_.insert(target).second ? 0 : EEXIST;
  }

  void add_left(std::string path, Outcome outcome, std::string reason) {
    ++result_.left;
    report_({.from = std::move(path), .to = "", .outcome = outcome, .reason = std::move(reason)});
  }

  std::string path_of(const std::string& name) const { return prefix_ + name; }

  const FixFilenamesOptions& options_;
  const std::function<void(const FixedName&)>& report_;
  const std::function<void(std::size_t)>& seen_;
  const std::stop_token& stop_;
  std::vector<Level> levels_;
  std::string prefix_;             // path of the deepest folder below the top, with its last slash
  std::set<std::string> claimed_;  // targets of a dry run in the deepest folder
  FixFilenamesResult result_;
};

}  // namespace

std::string_view name(FixedName::Outcome outcome) {
  switch (outcome) {
    case Outcome::renamed:
      return "renamed";
    case Outcome::collision:
      return "collision";
    case Outcome::no_name_left:
      return "no_name_left";
    case Outcome::failed:
      break;
  }
  return "failed";
}

std::string without_carriage_returns(std::string_view name) {
  std::string clean(name);
  std::erase(clean, '\r');
  return clean;
}

FixFilenamesResult fix_filenames(const FixFilenamesOptions& options,
                                 const std::function<void(const FixedName&)>& report,
                                 const std::function<void(std::size_t)>& seen,
                                 const std::stop_token& stop) {
  return Walk(options, report, seen, stop).run();
}

}  // namespace navtalk
