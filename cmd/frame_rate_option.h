// The option --fps of the commands that make video.
#pragma once

#include <optional>
#include <string>

#include "core/base/frame_rate.h"

namespace CLI {
class App;
}

namespace navtalk::cmd {

// From 1 to `highest`; `rate` holds the default and lives as long as the command.
void add_frame_rate(CLI::App& command, FrameRate& rate, const FrameRate& highest,
                    const std::string& description);
// The same for a rate that is that of the avatar unless it is given; up to k_highest_avatar_fps.
void add_optional_frame_rate(CLI::App& command, std::optional<FrameRate>& rate,
                             const std::string& description);

}  // namespace navtalk::cmd
