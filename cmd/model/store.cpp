// model pull, model push: models from and to a model store.
#include <CLI/CLI.hpp>
#include <memory>

#include "cmd/artifacts/commands.h"
#include "cmd/commands.h"
#include "core/base/error.h"
#include "gpu/model/model_check.h"

namespace navtalk::cmd {
namespace {

struct StoreOptions {
  std::filesystem::path folder;
  std::string name;
  std::vector<std::string> sources;
};

// The files that navtalk reads; whatever else lies beside them stays.
std::vector<std::filesystem::path> files_of_model(const StoreOptions& options,
                                                  const Context& context) {
  const ModelReport report =
      check_models(options.folder, {.read_all = false, .stop = context.stop});
  if (!report.fits())
    throw Error(Code::invalid, options.folder.native() +
                                   " is not a complete model: navtalk model check says what is "
                                   "missing");
  std::vector<std::filesystem::path> files;
  for (const FileReport& file : report.files) {
    if (file.state != FileState::missing) files.push_back(file.path);
  }
  return files;
}

int push_model(const StoreOptions& options, Context& context) {
  use_sources(options.sources, context);
  const std::filesystem::path tidy =
      (std::filesystem::absolute(options.folder) / "").lexically_normal().parent_path();
  const std::string name = options.name.empty() ? tidy.filename().native() : options.name;
  return push(ArtifactKind::model, name, options.folder, files_of_model(options, context), context);
}

}  // namespace

void add_model_pull(Commands& commands) {
  const auto options = std::make_shared<StoreOptions>();
  CLI::App& command = commands.add({.group = Group::model,
                                    .name = "pull",
                                    .summary = "Fetch a model from a model store into the cache",
                                    .examples = "  navtalk model pull musetalk --source "
                                                "s3://models/navtalk\n",
                                    .action = [options](Context& context) {
                                      use_sources(options->sources, context);
                                      return pull(ArtifactKind::model, options->name, context);
                                    }});
  command.add_option("name", options->name, "The model's name in the store")
      ->required()
      ->type_name("NAME");
  add_source_option(command, options->sources);
}

void add_model_push(Commands& commands) {
  const auto options = std::make_shared<StoreOptions>();
  CLI::App& command = commands.add(
      {.group = Group::model,
       .name = "push",
       .summary = "Copy a model to a model store",
       .examples = "  navtalk model push ~/MuseTalk/models --name musetalk --source "
                   "s3://models/navtalk\n",
       .action = [options](Context& context) { return push_model(*options, context); }});
  command.add_option("directory", options->folder, "MuseTalk's checkpoint folder")
      ->required()
      ->type_name("DIR");
  command.add_option("--name", options->name, "Its name in the store; default: the folder's name")
      ->type_name("NAME");
  add_source_option(command, options->sources);
}

}  // namespace navtalk::cmd
