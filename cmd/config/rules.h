// What one key of the configuration cannot tell: values that contradict each other, or name what
// is not there, or have an effect that is easily overlooked. Reads no files.
#pragma once

#include <string>
#include <vector>

#include "core/config/config.h"

namespace navtalk::cmd {

// One sentence each, with the keys, where they come from, and what to do; none when all is good.
// `config check` fails on these, every other command warns.
std::vector<std::string> contradictions(const ConfigReading& reading);
// The same for what may be meant, and often is not: `config check`, `pool scale --dry-run` and
// `serve` warn.
std::vector<std::string> side_effects(const ConfigReading& reading);

}  // namespace navtalk::cmd
