// What one key of the configuration cannot tell: values that contradict each other, or name what
// is not there. `config check` fails on them, every other command warns. Pure.
#pragma once

#include <string>
#include <vector>

#include "core/config/config.h"

namespace navtalk::cmd {

// One sentence each, with the keys, where they come from, and what to do; none when all is good.
std::vector<std::string> contradictions(const ConfigReading& reading);

}  // namespace navtalk::cmd
