// avatar list: the avatars that can be named by id.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "avatars/bundle/library.h"
#include "cmd/avatar/report.h"
#include "cmd/commands.h"
#include "cmd/defaults.h"
#include "cmd/terminal/table.h"
#include "core/text/printable.h"

namespace navtalk::cmd {
namespace {

void print_list(const std::vector<ListedAvatar>& avatars, Context& context) {
  using enum Column::Align;
  std::vector<std::vector<std::string>> rows;
  for (const ListedAvatar& avatar : avatars) {
    if (!avatar.info) {
      rows.push_back({printable(avatar.directory.filename().native()), "damaged"});
      continue;
    }
    const AvatarInfo& info = *avatar.info;
    rows.push_back({info.id, fmt::format("{}x{}", info.width, info.height), text(info.fps),
                    std::to_string(info.frames), printable(avatar.directory.native())});
  }
  context.out.write(
      table({{"id", left}, {"size", left}, {"fps", right}, {"frames", right}, {"folder", left}},
            rows, context.colour));
}

int list(const std::filesystem::path& given, Context& context) {
  const std::filesystem::path library = given.empty() ? avatars_directory(context) : given;
  const std::vector<ListedAvatar> avatars = list_avatars(library);
  if (!context.json) {
    print_list(avatars, context);
    return 0;
  }
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const ListedAvatar& avatar : avatars) {
    if (avatar.info) {
      rows.push_back(avatar_json(*avatar.info, avatar.directory));
    } else {
      nlohmann::ordered_json row;
      put_path(row, "directory", avatar.directory);
      row["problem"] = avatar.problem;
      rows.push_back(row);
    }
  }
  nlohmann::ordered_json all;
  put_path(all, "directory", library);
  all["avatars"] = rows;
  context.out.json(all);
  return 0;
}

}  // namespace

void add_avatar_list(Commands& commands) {
  const auto library = std::make_shared<std::filesystem::path>();
  CLI::App& command =
      commands.add({.group = Group::avatar,
                    .name = "list",
                    .summary = "List the avatars in a folder",
                    .examples = "  navtalk avatar list\n"
                                "  navtalk avatar list ~/avatars --json\n",
                    .action = [library](Context& context) { return list(*library, context); }});
  command
      .add_option("directory", *library,
                  "Folder of avatars; default: [avatars] path of the configuration, otherwise the "
                  "demo avatars")
      ->type_name("DIR");
}

}  // namespace navtalk::cmd
