// The clock that runs from boot, through suspend, and never jumps. Stateless.
#pragma once

#include <string>

#include "core/base/time.h"

namespace navtalk {

// Tells one boot of the machine from another.
std::string boot_id();
// Since that boot.
Duration since_boot();

}  // namespace navtalk
