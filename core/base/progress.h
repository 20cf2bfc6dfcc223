// How long work reports how far it is. The command line draws bars from it; libraries only call it.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

namespace navtalk {

// stage: what is being done ("decoding", "masks"); done of total units, total 0 when it is not
// known.
using Progress = std::function<void(std::string_view stage, std::size_t done, std::size_t total)>;

}  // namespace navtalk
