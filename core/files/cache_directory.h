// Where navtalk keeps what it can make again at the price of time.
#pragma once

#include <filesystem>
#include <optional>

namespace navtalk {

// $CACHE_DIRECTORY (systemd; the first of several), else $XDG_CACHE_HOME/navtalk (an absolute path,
// as the XDG rules want; another is passed over), else ~/.cache/navtalk. Not made here. nullopt
// when none of the variables is set: a program can do without.
std::optional<std::filesystem::path> cache_directory();

}  // namespace navtalk
