// What a command uses when the user names nothing: flag, else configuration, else the demo.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cmd/context.h"

namespace navtalk::cmd {

std::filesystem::path models_directory(const std::filesystem::path& flag, const Context& context);
std::filesystem::path avatars_directory(const Context& context);
// Where an avatar's id is looked for, in order: the configured folder, then the demo's.
std::vector<std::filesystem::path> avatar_libraries(const Context& context);
// An avatar's folder, or the one that an id names. An installation without the demo has folders
// too.
std::filesystem::path avatar_directory(const std::string& name, const Context& context);

}  // namespace navtalk::cmd
