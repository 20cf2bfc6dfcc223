// Where navtalk keeps what must last: the pool's database, the workers' token.
#pragma once

#include <filesystem>

namespace navtalk {

// $STATE_DIRECTORY (systemd; the first of several), else $XDG_STATE_HOME/navtalk, else
// ~/.local/state/navtalk. Not made here. Error{invalid} when none of the variables is set, HOME
// included.
std::filesystem::path state_directory();

// The same, made where it is missing: its owner's alone. Error{failed} when it cannot be.
std::filesystem::path made_state_directory();

}  // namespace navtalk
