#include "cmd/commands.h"

namespace navtalk::cmd {

// In the order of --help.
void add_commands(Commands& commands) {
  add_infer(commands);
  add_serve(commands);
  add_avatar_list(commands);
  add_avatar_prepare(commands);
  add_avatar_show(commands);
  add_bench_image(commands);
  add_bench_pipeline(commands);
  add_model_check(commands);
  add_model_verify(commands);
  add_fix_filenames(commands);
  add_config_check(commands);
  add_config_show(commands);
  add_config_example(commands);
  add_completions(commands);
}

}  // namespace navtalk::cmd
