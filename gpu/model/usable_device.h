// Which device the nets run on, of those that somebody asks for and those that are there.
#pragma once

#include <optional>

#include "gpu/device/device.h"

namespace navtalk {

// `asked` is what parse_device() gave. A GPU that is asked for has to be there, with libtorch's part for it, which this loads:
// Error{invalid} says what is missing. nullopt: the first GPU if it can be used, else the CPU; a build with CUDA then
// logs why.
Device usable_device(std::optional<Device> asked);

}  // namespace navtalk
