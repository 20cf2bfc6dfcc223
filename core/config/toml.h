// One TOML file, read into a configuration.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/config/config.h"

namespace navtalk {

// Lays the file's values over `reading` and appends what is wrong with it to `faults`, each with
// file, line and column. Error{not_found} for a missing file, Error{failed} for one that cannot be
// read.
void read_config_file(const std::filesystem::path& file, ConfigReading& reading,
                      std::vector<std::string>& faults);

}  // namespace navtalk
