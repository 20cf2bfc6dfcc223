// Where navtalk keeps what must last: the pool's database, the workers' token.
#pragma once

#include <filesystem>

namespace navtalk {

inline constexpr const char* k_service_state = "/var/lib/navtalk";  // of navtalk.service

// $STATE_DIRECTORY (systemd; the first of several), else $XDG_STATE_HOME/navtalk, else the
// service's own for root and for its user, so that an operator's commands meet the pool that the
// service runs, else ~/.local/state/navtalk. Not made here. Error{invalid} when none of the
// variables is set, HOME included.
std::filesystem::path state_directory(const std::filesystem::path& service = k_service_state);

// The same, made where it is missing: its owner's alone. Error{failed} when it cannot be.
std::filesystem::path made_state_directory();

}  // namespace navtalk
