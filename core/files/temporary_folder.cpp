#include "core/files/temporary_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>

#include "core/base/error.h"
#include "core/text/printable.h"

namespace navtalk {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view k_prefix = "navtalk-tmp-";
constexpr std::chrono::minutes k_young{1};  // it may have no lock yet

fs::path parent_of_all() {
  const char* wanted = std::getenv("TMPDIR");
  return wanted != nullptr && *wanted != '\0' ? wanted : "/tmp";
}

fs::path make_below(const fs::path& parent, const std::string& advice) {
  std::string pattern = (parent / (std::string(k_prefix) + "XXXXXX")).native();
  if (::mkdtemp(pattern.data()) == nullptr) {
    throw Error(Code::failed,
                "cannot make a temporary folder in " + printable(parent.native()) + advice);
  }
  return pattern;
}

// An empty one: another process has it.
UniqueFd locked(const fs::path& folder) {
  UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (fd && ::flock(fd.value(), LOCK_EX | LOCK_NB) != 0) fd.reset();
  return fd;
}

bool may_be_abandoned(const fs::path& folder) {
  struct stat found = {};
  if (::lstat(folder.c_str(), &found) != 0 || !S_ISDIR(found.st_mode)) return false;
  const auto changed = std::chrono::system_clock::from_time_t(found.st_mtime);
  return found.st_uid == ::geteuid() && std::chrono::system_clock::now() - changed > k_young;
}

}  // namespace

TemporaryFolder::TemporaryFolder()
    : path_(make_below(parent_of_all(), ": set TMPDIR to one that can be written to")),
      lock_(locked(path_)) {}

TemporaryFolder::TemporaryFolder(const fs::path& parent)
    : path_(make_below(parent, "")), lock_(locked(path_)) {}

TemporaryFolder::~TemporaryFolder() { remove(); }

// Another process may get the same name afterwards.
void TemporaryFolder::remove() {
  if (removed_) return;
  removed_ = true;
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void remove_abandoned_folders() { remove_abandoned_folders(parent_of_all()); }

void remove_abandoned_folders(const fs::path& parent) {
  std::error_code error;
  for (fs::directory_iterator at(parent, error), end; !error && at != end; at.increment(error)) {
    const fs::path& folder = at->path();
    if (!folder.filename().native().starts_with(k_prefix) || !may_be_abandoned(folder)) continue;
    std::error_code ignored;
    if (const UniqueFd lock = locked(folder)) fs::remove_all(folder, ignored);
  }
}

}  // namespace navtalk
