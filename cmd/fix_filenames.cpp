// fix-filenames: takes carriage returns out of file names.
#include "core/files/fix_filenames.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cmd/commands.h"
#include "core/text/printable.h"

namespace navtalk::cmd {
namespace {

void print(const FixedName& fixed, const FixFilenamesOptions& options, Context& context) {
  const std::string from = printable(fixed.from);
  if (fixed.outcome == FixedName::Outcome::renamed) {
    context.out.print("{} {} -> {}\n", options.dry_run ? "would rename" : "renamed", from,
                      printable(fixed.to));
  } else {
    context.out.print("left {}{}: {}\n", from.empty() ? "." : from,
                      fixed.to.empty() ? "" : " -> " + printable(fixed.to), fixed.reason);
  }
}

nlohmann::ordered_json as_json(const FixedName& fixed) {
  nlohmann::ordered_json item;
  put_path(item, "from", fixed.from);
  if (!fixed.to.empty()) put_path(item, "to", fixed.to);
  item["outcome"] = name(fixed.outcome);
  if (!fixed.reason.empty()) item["reason"] = fixed.reason;
  return item;
}

int fix(const FixFilenamesOptions& options, Context& context) {
  auto items = nlohmann::ordered_json::array();
  const auto report = [&](const FixedName& fixed) {
    if (context.json) {
      items.push_back(as_json(fixed));
    } else {
      print(fixed, options, context);
    }
  };
  const auto seen = [&](std::size_t count) { context.progress("looking at names", count, 0); };
  const FixFilenamesResult result = fix_filenames(options, report, seen, context.stop);
  if (context.json) {
    nlohmann::ordered_json object;
    put_path(object, "directory", options.directory);
    object["dry_run"] = options.dry_run;
    object["seen"] = result.seen;
    object["renamed"] = result.renamed;
    object["left"] = result.left;
    object["names"] = std::move(items);
    context.out.json(object);
  } else {
    context.out.print("{} names looked at, {} {}, {} left\n", result.seen, result.renamed,
                      options.dry_run ? "to rename" : "renamed", result.left);
  }
  return result.left == 0 ? 0 : 1;
}

}  // namespace

void add_fix_filenames(Commands& commands) {
  const auto options = std::make_shared<FixFilenamesOptions>();
  CLI::App& command = commands.add({
      .name = "fix-filenames",
      .summary = "Remove carriage returns from file and folder names",
      .examples =
          "  navtalk fix-filenames --dry-run ~/videos   show what would be renamed\n"
          "  navtalk fix-filenames ~/videos             rename, report the names that were kept\n",
      .action = [options](Context& context) { return fix(*options, context); },
  });
  command
      .add_option("directory", options->directory,
                  "Folder whose contents are renamed, including subfolders")
      ->required()
      ->type_name("DIR");
  command.add_flag("--dry-run", options->dry_run, "Change nothing; show what would be done");
}

}  // namespace navtalk::cmd
