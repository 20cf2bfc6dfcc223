#include "cmd/net_placement.h"

#include <CLI/CLI.hpp>

namespace navtalk::cmd {

void add_net_placement(CLI::App& command, NetPlacement& placement, CLI::Option* only_with,
                       const std::string& suffix) {
  CLI::Option* const decoder =
      command
          .add_option(
              "--decoder-device", placement.decoder_device,
              "cpu, cuda, cuda:N for the decoder alone; auto: where the other nets run" + suffix)
          ->capture_default_str()
          ->type_name("DEVICE");
  CLI::Option* const graphs = command.add_flag(
      "--no-graphs", placement.no_graphs,
      "On a GPU, launch the nets kernel by kernel instead of as recorded graphs" + suffix);
  CLI::Option* const weights =
      command
          .add_option("--weight-format", placement.weight_format,
                      "On a GPU, int8 keeps weights in 8 bits; auto: as the nets compute" + suffix)
          ->capture_default_str()
          ->check(CLI::IsMember({"auto", "int8"}))
          ->type_name("FORMAT");
  if (only_with == nullptr) return;
  decoder->needs(only_with);
  graphs->needs(only_with);
  weights->needs(only_with);
}

}  // namespace navtalk::cmd
