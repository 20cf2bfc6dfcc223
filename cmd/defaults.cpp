#include "cmd/defaults.h"

#include "core/data_directory.h"

namespace navtalk::cmd {

std::filesystem::path models_directory(const std::filesystem::path& flag, const Context& context) {
  if (!flag.empty()) return flag;
  if (!context.config.models.path.empty()) return context.config.models.path;
  return data_directory() / "demo/models";
}

std::filesystem::path avatars_directory(const Context& context) {
  if (!context.config.avatars.path.empty()) return context.config.avatars.path;
  return data_directory() / "demo/avatars";
}

}  // namespace navtalk::cmd
