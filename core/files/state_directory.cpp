#include "core/files/state_directory.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/text/printable.h"

namespace navtalk {
namespace {

// Is it this user's own, or this user root and a pool in it?
bool may_serve(const std::filesystem::path& directory) {
  struct stat found {};
  if (::stat(directory.c_str(), &found) != 0 || !S_ISDIR(found.st_mode)) return false;
  std::error_code none;
  return ::geteuid() == 0 ? std::filesystem::exists(directory / "pool.db", none)
                          : found.st_uid == ::geteuid();
}

}  // namespace

std::filesystem::path state_directory(const std::filesystem::path& service) {
  const std::string systemd = environment_value("STATE_DIRECTORY");
  if (!systemd.empty()) return systemd.substr(0, systemd.find(':'));
  const std::string xdg = environment_value("XDG_STATE_HOME");
  if (!xdg.empty()) return std::filesystem::path(xdg) / "navtalk";
  if (may_serve(service)) return service;
  const std::string home = environment_value("HOME");
  if (!home.empty()) return std::filesystem::path(home) / ".local/state/navtalk";
  throw Error(Code::invalid, "no place to keep the pool: set STATE_DIRECTORY or HOME");
}

std::filesystem::path made_state_directory() {
  std::filesystem::path directory = state_directory();
  std::error_code fault;
  std::filesystem::create_directories(directory.parent_path(), fault);
  // An existing one keeps the rights that somebody gave it.
  if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) {
    throw Error(Code::failed, "cannot make the state folder " + printable(directory.native()) +
                                  ": " + std::system_category().message(errno));
  }
  return directory;
}

}  // namespace navtalk
