// Lengths of time on the command line: "90s", "15m", "2h", "3d".
#pragma once

#include <optional>
#include <string_view>

#include "core/base/time.h"

namespace navtalk::cmd {

// nullopt for other text.
std::optional<Duration> parse_duration(std::string_view text);

}  // namespace navtalk::cmd
