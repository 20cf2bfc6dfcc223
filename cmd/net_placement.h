// Where nets run and how, for the commands that load all of them.
#pragma once

#include <string>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace navtalk::cmd {

struct NetPlacement {
  std::string decoder_device = "auto";  // where the other nets are
  bool no_graphs = false;
  std::string weight_format = "auto";
};

// --decoder-device, --no-graphs and --weight-format. `only_with`: the option without which they mean nothing; `suffix` ends their help.
void add_net_placement(CLI::App& command, NetPlacement& placement, CLI::Option* only_with = nullptr,
                       const std::string& suffix = {});

}  // namespace navtalk::cmd
