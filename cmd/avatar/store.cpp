// avatar pull, avatar push: avatars from and to a model store.
#include <CLI/CLI.hpp>
#include <memory>

#include "avatars/bundle/bundle_files.h"
#include "avatars/bundle/library.h"
#include "cmd/artifacts/commands.h"
#include "cmd/commands.h"
#include "cmd/defaults.h"
#include "core/base/error.h"

namespace navtalk::cmd {
namespace {

struct StoreOptions {
  std::string avatar;
  std::vector<std::string> sources;
};

int push_avatar(const StoreOptions& options, Context& context) {
  use_sources(options.sources, context);
  const std::filesystem::path folder =
      find_avatar(options.avatar, avatar_libraries(context));  // of this machine
  const BundleFiles bundle = read_bundle_files(folder);
  if (!has_all_frames(folder, bundle.info))
    throw Error(Code::invalid, folder.native() +
                                   " is not a complete avatar: navtalk avatar show says what is "
                                   "wrong");
  std::vector<std::filesystem::path> files = {k_info_file, k_frames_file, k_faces_file,
                                              k_masks_file};
  if (bundle.latents) files.emplace_back(k_latents_file);
  if (bundle.transitions) files.emplace_back(k_transitions_file);
  return push(ArtifactKind::avatar, bundle.info.id, folder, files, context);
}

}  // namespace

void add_avatar_pull(Commands& commands) {
  const auto options = std::make_shared<StoreOptions>();
  CLI::App& command = commands.add({.group = Group::avatar,
                                    .name = "pull",
                                    .summary = "Fetch an avatar from a model store into the cache",
                                    .examples = "  navtalk avatar pull anna --source "
                                                "https://models.example.com/navtalk\n",
                                    .action = [options](Context& context) {
                                      use_sources(options->sources, context);
                                      return pull(ArtifactKind::avatar, options->avatar, context);
                                    }});
  command.add_option("avatar", options->avatar, "The avatar's id")->required()->type_name("ID");
  add_source_option(command, options->sources);
}

void add_avatar_push(Commands& commands) {
  const auto options = std::make_shared<StoreOptions>();
  CLI::App& command = commands.add(
      {.group = Group::avatar,
       .name = "push",
       .summary = "Copy an avatar to a model store, under its id",
       .examples = "  navtalk avatar push ./anna --source s3://models/navtalk\n",
       .action = [options](Context& context) { return push_avatar(*options, context); }});
  command.add_option("avatar", options->avatar, "An avatar's id, or its folder, with a slash")
      ->required()
      ->type_name("DIR|ID");
  add_source_option(command, options->sources);
}

}  // namespace navtalk::cmd
