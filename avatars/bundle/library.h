// Avatars by name: folders in which bundles stand side by side, each under its id.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "avatars/bundle/avatar_info.h"

namespace navtalk {

// `name` is the id of a bundle in the first of `libraries` that has it, or a bundle's folder: a name
// that could be an id is never a folder, so a path needs a slash. Error{not_found} says where it was
// looked for; Error{usage} for a name that is neither.
std::filesystem::path find_avatar(const std::string& name,
                                  const std::vector<std::filesystem::path>& libraries);

struct ListedAvatar {
  std::filesystem::path directory;
  std::optional<AvatarInfo> info;
  std::string problem;  // why there is no info
};
// Every folder with an avatar.json in it, sorted by name; one that cannot be read is listed with
// its problem. Only avatar.json is read. Error{not_found} when there is no such folder.
std::vector<ListedAvatar> list_avatars(const std::filesystem::path& library);

}  // namespace navtalk
