// The secret that this pool and its workers share.
#pragma once

#include <filesystem>
#include <string>

namespace navtalk {

// NAVTALK_WORKER_TOKEN, else the file's first line. Where `make` is set a missing file is made with
// a fresh token, readable by its owner alone; whoever comes second reads the first one's.
// Error{invalid} name the file, never what is in it.
std::string pool_worker_token(const std::filesystem::path& file, bool make);

}  // namespace navtalk
