#include "cmd/commands.h"

namespace navtalk::cmd {

void add_commands(Commands&) {}

}  // namespace navtalk::cmd
