#include "cmd/commands.h"

namespace navtalk::cmd {

void add_commands(Commands& commands) {
  add_avatar_list(commands);
  add_avatar_show(commands);
  add_bench_image(commands);
  add_fix_filenames(commands);
}

}  // namespace navtalk::cmd
