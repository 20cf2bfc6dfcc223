#include "cmd/bench/pipeline.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "cmd/commands.h"
#include "cmd/render_module/render_module.h"

namespace navtalk::cmd {

void add_bench_pipeline(Commands& commands) {
  const auto options = std::make_shared<BenchPipelineOptions>();
  CLI::App& command = commands.add(
      {.group = Group::bench,
       .name = "pipeline",
       .summary = "Time every stage from audio to finished frame, on the CPU and on a GPU",
       .examples = "  navtalk bench pipeline\n"
                   "  navtalk bench pipeline --models ~/MuseTalk/models --precision bf16 --json\n",
       .action = [options](Context& context) {
         return render_module().bench_pipeline(*options, context);
       }});
  command.add_option("--models", options->models, "MuseTalk's checkpoint folder")->type_name("DIR");
  command
      .add_option(
          "--device", options->device,
          "cpu: the CPU alone; cuda, cuda:N: beside it that GPU, which has to be there; auto: "
          "a GPU if there is one")
      ->type_name("DEVICE")
      ->capture_default_str();
  add_net_placement(command, options->placement);
  command
      .add_option("--precision", options->precisions,
                  "Number formats, separated by commas; default: all that the devices support")
      ->delimiter(',')
      ->check(CLI::IsMember({"auto", "fp32", "bf16", "fp16"}))
      ->type_name("PRECISION");
  command.add_option("--batch", options->batches, "Frames per pass, separated by commas")
      ->delimiter(',')
      ->check(CLI::Range(1, 64))
      ->type_name("N")
      ->capture_default_str();
  command.add_option("--threads", options->threads, "Threads of the nets; 0: every core")
      ->check(CLI::Range(0, 1024))
      ->type_name("N")
      ->capture_default_str();
  command.add_option("--time", options->seconds, "Seconds to measure each stage for")
      ->check(CLI::Range(0.0, 600.0))
      ->type_name("S")
      ->capture_default_str();
}

}  // namespace navtalk::cmd
