#include "cmd/bench/image.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "cmd/commands.h"
#include "cmd/render_module/render_module.h"

namespace navtalk::cmd {

void add_bench_image(Commands& commands) {
  const auto options = std::make_shared<BenchImageOptions>();
  CLI::App& command = commands.add(
      {.group = Group::bench,
       .name = "image",
       .summary = "Time the image operations: resize, blur, sharpen, blend, colour",
       .examples = "  navtalk bench image --size 720p\n  navtalk bench image --json > image.json\n",
       .action =
           [options](Context& context) { return render_module().bench_image(*options, context); },
       .needs_config = false});
  command.add_option("--size", options->sizes, "Picture sizes, separated by commas")
      ->delimiter(',')
      ->check(CLI::IsMember({"512", "720p", "1080p"}))
      ->type_name("SIZE")
      ->capture_default_str();
  command.add_option("--batch", options->batches, "Pictures per call, separated by commas")
      ->delimiter(',')
      ->check(CLI::Range(1, 64))
      ->type_name("N")
      ->capture_default_str();
  command.add_option("--time", options->seconds, "Seconds to measure each operation for")
      ->check(CLI::Range(0.0, 60.0))
      ->type_name("S")
      ->capture_default_str();
  command
      .add_option(
          "--device", options->device,
          "cpu: the CPU alone; cuda: beside it the GPU, which has to be there; auto: the GPU "
          "if there is one")
      ->check(CLI::IsMember({"auto", "cpu", "cuda"}))
      ->type_name("DEVICE")
      ->capture_default_str();
}

}  // namespace navtalk::cmd
