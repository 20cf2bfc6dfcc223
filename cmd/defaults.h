// What a command uses when the user names nothing: flag, else configuration, else the demo.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cmd/context.h"

namespace navtalk::cmd {

// A folder that is not there is fetched by its last name where the configuration names a model store, and
// so is an avatar's id below. Errors of fetch_artifact().
std::filesystem::path models_directory(const std::filesystem::path& flag, const Context& context);
std::filesystem::path avatars_directory(const Context& context);
// Where an avatar's id is looked for, in order: the configured folder, then the demo's.
std::vector<std::filesystem::path> avatar_libraries(const Context& context);
// The folder that an id names, or a folder itself, whose name needs a slash: then no library is looked
// for, which an installation without the demo may lack. Warns where both are there.
std::filesystem::path avatar_directory(const std::string& name, const Context& context);

}  // namespace navtalk::cmd
