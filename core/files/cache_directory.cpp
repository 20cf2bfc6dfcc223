#include "core/files/cache_directory.h"

#include "core/base/environment.h"

namespace navtalk {

std::optional<std::filesystem::path> cache_directory() {
  const std::string systemd = environment_value("CACHE_DIRECTORY");
  if (!systemd.empty()) return systemd.substr(0, systemd.find(':'));
  const std::filesystem::path xdg = environment_value("XDG_CACHE_HOME");
  if (xdg.is_absolute()) return xdg / "navtalk";
  const std::filesystem::path home = environment_value("HOME");
  if (home.is_absolute()) return home / ".cache/navtalk";
  return std::nullopt;
}

}  // namespace navtalk
