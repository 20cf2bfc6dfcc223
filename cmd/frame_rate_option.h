// The option --fps of the commands that make video.
#pragma once

#include <string>

#include "core/base/frame_rate.h"

namespace CLI {
class App;
}

namespace navtalk::cmd {

// From 1 to `highest`; `rate` holds the default and lives as long as the command.
void add_frame_rate(CLI::App& command, FrameRate& rate, const FrameRate& highest,
                    const std::string& description);

}  // namespace navtalk::cmd
