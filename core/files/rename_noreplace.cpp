#include "core/files/rename_noreplace.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "core/base/unique_fd.h"

namespace navtalk {
namespace {

// `to` is ours and empty: put `from` in its place, or take it away again.
int replace_claim(int directory, const std::string& from, const std::string& to, int unlink_flags) {
  if (renameat(directory, from.c_str(), directory, to.c_str()) == 0) return 0;
  const int error = errno;
  unlinkat(directory, to.c_str(), unlink_flags);
  return error == ENOTEMPTY ? EEXIST : error;
}

int rename_folder(int directory, const std::string& from, const std::string& to) {
  if (mkdirat(directory, to.c_str(), S_IRWXU) != 0) return errno;
  return replace_claim(directory, from, to, AT_REMOVEDIR);
}

int rename_file(int directory, const std::string& from, const std::string& to) {
  if (linkat(directory, from.c_str(), directory, to.c_str(), 0) == 0) {
    return unlinkat(directory, from.c_str(), 0) == 0 ? 0 : errno;
  }
  const bool no_links = errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS || errno == EMLINK;
  if (!no_links) return errno;
  const UniqueFd claim(openat(directory, to.c_str(),
                              O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                              S_IRUSR | S_IWUSR));
  if (!claim) return errno;
  return replace_claim(directory, from, to, 0);
}

}  // namespace

int rename_by_claim(int directory, const std::string& from, const std::string& to) {
  struct stat status {};
  if (fstatat(directory, from.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return errno;
  return S_ISDIR(status.st_mode) ? rename_folder(directory, from, to)
                                 : rename_file(directory, from, to);
}

int rename_noreplace(int directory, const std::string& from, const std::string& to) {
  if (renameat2(directory, from.c_str(), directory, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  const bool unsupported = errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP;
  return unsupported ? rename_by_claim(directory, from, to) : errno;
}

}  // namespace navtalk
