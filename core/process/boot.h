// The boot of this machine: its id, and the clock that runs since it, through suspend, and never
// jumps. Stateless.
#pragma once

#include <optional>
#include <string>

#include "core/base/time.h"

namespace navtalk {

// Tells one boot of one machine from all others; nullopt where /proc cannot be read.
std::optional<std::string> boot_id();
// Since that boot.
Duration since_boot();

}  // namespace navtalk
