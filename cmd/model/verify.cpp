#include "cmd/model/verify.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "cmd/commands.h"
#include "cmd/render_module/render_module.h"

namespace navtalk::cmd {

void add_model_verify(Commands& commands) {
  const auto options = std::make_shared<ModelVerifyOptions>();
  CLI::App& command = commands.add(
      {.group = Group::model,
       .name = "verify",
       .summary = "Compare every stage with the results of the Python reference",
       .examples = "  navtalk model verify ~/MuseTalk/models golden.safetensors\n"
                   "  navtalk model verify --precision bf16 models golden.safetensors --json\n"
                   "\n"
                   "  tools/golden/make_golden.py writes such a file from any checkpoint folder.\n"
                   "  Exit status 1: at least one stage is out of tolerance.\n",
       .action = [options](Context& context) {
         return render_module().verify_model(*options, context);
       }});
  command.add_option("models", options->models, "MuseTalk's checkpoint folder")
      ->required()
      ->type_name("DIR");
  command.add_option("golden", options->golden, "Golden file made from the same weights")
      ->required()
      ->type_name("FILE");
  command.add_option("--device", options->device, "Where the nets run: cpu, cuda, cuda:N or auto")
      ->capture_default_str()
      ->type_name("DEVICE");
  command.add_option("--precision", options->precision, "Number format of the nets")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "fp32", "bf16", "fp16"}));
  command
      .add_option("--weight-format", options->weight_format,
                  "On a GPU, int8 keeps weights in 8 bits; auto: as the nets compute")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "int8"}))
      ->type_name("FORMAT");
}

}  // namespace navtalk::cmd
