// For which avatars a model was made. MuseTalk's own weights move any face; a model that was trained on
// few faces moves these, and says so in the file navtalk.json of its checkpoint folder:
//   {"made_for": ["ada", "theo"]}
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace navtalk {

inline constexpr const char* k_made_for_file = "navtalk.json";

// The ids of the avatars; empty: any face. Error{invalid} that names the file.
std::vector<std::string> made_for(const std::filesystem::path& models);

}  // namespace navtalk
