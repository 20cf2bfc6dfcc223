#include "core/state_directory.h"

#include <cstdlib>
#include <string>

#include "core/error.h"

namespace navtalk {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

std::filesystem::path state_directory() {
  const std::string systemd = variable("STATE_DIRECTORY");
  if (!systemd.empty()) return systemd.substr(0, systemd.find(':'));
  const std::string xdg = variable("XDG_STATE_HOME");
  if (!xdg.empty()) return std::filesystem::path(xdg) / "navtalk";
  const std::string home = variable("HOME");
  if (!home.empty()) return std::filesystem::path(home) / ".local/state/navtalk";
  throw Error(Code::invalid, "no place to keep the pool: set STATE_DIRECTORY or HOME");
}

}  // namespace navtalk
