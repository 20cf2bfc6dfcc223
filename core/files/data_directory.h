// Where the files that come with navtalk lie: the demo models and avatars.
#pragma once

#include <filesystem>

namespace navtalk {

// $NAVTALK_DATA_DIR if it is set, else share/navtalk beside the executable's bin/ (an installed
// navtalk), else the assets/ of the source tree above it (a build tree). The folder holds demo/.
// Error{not_found} says where it looked.
std::filesystem::path data_directory();

}  // namespace navtalk
