#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "avatars/bundle/bundle.h"
#include "avatars/bundle/library.h"
#include "cmd/avatar/report.h"
#include "cmd/commands.h"
#include "cmd/defaults.h"

namespace navtalk::cmd {
namespace {

int show(const std::string& name, Context& context) {
  const std::filesystem::path directory = avatar_directory(name, context);
  const Bundle bundle = Bundle::open(directory);
  if (context.json) {
    context.out.json(avatar_json(bundle.info(), directory));
  } else {
    print_avatar(context, bundle.info(), directory);
  }
  return 0;
}

}  // namespace

void add_avatar_show(Commands& commands) {
  const auto name = std::make_shared<std::string>();
  CLI::App& command =
      commands.add({.group = Group::avatar,
                    .name = "show",
                    .summary = "Describe an avatar and check that its files are complete",
                    .examples = "  navtalk avatar show ada\n"
                                "  navtalk avatar show ./ada --json\n",
                    .action = [name](Context& context) { return show(*name, context); }});
  command.add_option("avatar", *name, "An avatar's folder or its id")
      ->required()
      ->type_name("DIR|ID");
}

}  // namespace navtalk::cmd
