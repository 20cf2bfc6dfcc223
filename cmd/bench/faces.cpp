#include "cmd/bench/faces.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "cmd/commands.h"
#include "cmd/render_module/render_module.h"

namespace navtalk::cmd {

void add_bench_faces(Commands& commands) {
  const auto options = std::make_shared<BenchFacesOptions>();
  CLI::App& command = commands.add(
      {.group = Group::bench,
       .name = "faces",
       .summary = "Time the networks that find faces and their parts, per precision",
       .examples =
           "  navtalk bench faces --models ~/MuseTalk/models\n"
           "  navtalk bench faces --models ~/MuseTalk/models --size 1920x1080 --precision bf16\n"
           "  navtalk bench faces --models ~/MuseTalk/models --batch 1,2,4,8\n",
       .action = [options](Context& context) {
         return render_module().bench_faces(*options, context);
       }});
  command.add_option("--models", options->models, "MuseTalk's checkpoint folder")->type_name("DIR");
  command.add_option("--device", options->device, "cpu, cuda, cuda:N; auto: a GPU if there is one")
      ->type_name("DEVICE")
      ->capture_default_str();
  command
      .add_option("--precision", options->precisions,
                  "Number formats, separated by commas; default: all that this CPU supports")
      ->delimiter(',')
      ->check(CLI::IsMember({"fp32", "bf16", "fp16"}))
      ->type_name("PRECISION");
  command.add_option("--size", options->size, "Width and height of the pictures, in pixels")
      ->type_name("WxH")
      ->capture_default_str();
  command
      .add_option("--batch", options->batches,
                  "Pictures that go through a network together, separated by commas")
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
