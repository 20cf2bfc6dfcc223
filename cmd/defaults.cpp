#include "cmd/defaults.h"

#include "avatars/bundle/avatar_id.h"
#include "avatars/bundle/bundle_files.h"
#include "avatars/bundle/library.h"
#include "cmd/artifacts/model_store.h"
#include "core/artifacts/manifest.h"
#include "core/base/error.h"
#include "core/files/data_directory.h"
#include "core/log/log.h"

namespace navtalk::cmd {

std::filesystem::path models_directory(const std::filesystem::path& flag, const Context& context) {
  const std::filesystem::path& named = flag.empty() ? context.config.models.path : flag;
  if (named.empty()) return data_directory() / "demo/models";
  std::error_code none;
  if (!has_model_sources(context) || std::filesystem::exists(named, none)) return named;
  const std::filesystem::path tidy = (named / "").lexically_normal().parent_path();
  const std::string name = tidy.filename();
  // Whoever reads the folder says that it is not there.
  if (!valid_artifact_name(name)) return named;
  return fetched_folder(ArtifactKind::model, name, context, context.progress);
}

std::filesystem::path avatars_directory(const Context& context) {
  if (!context.config.avatars.path.empty()) return context.config.avatars.path;
  return data_directory() / "demo/avatars";
}

std::vector<std::filesystem::path> avatar_libraries(const Context& context) {
  std::vector<std::filesystem::path> libraries;
  if (!context.config.avatars.path.empty()) libraries.push_back(context.config.avatars.path);
  try {
    libraries.push_back(data_directory() / "demo/avatars");
  } catch (const Error& error) {
    // An installation without the demo still has the configured ones.
    if (error.code() != Code::not_found || libraries.empty()) throw;
  }
  return libraries;
}

std::filesystem::path avatar_directory(const std::string& name, const Context& context) {
  if (!valid_avatar_id(name)) return find_avatar(name, {});
  std::filesystem::path found;
  try {
    found = find_avatar(name, avatar_libraries(context));
  } catch (const Error& error) {
    if (error.code() != Code::not_found || !has_model_sources(context)) throw;
    found = fetched_folder(ArtifactKind::avatar, name, context, context.progress);
  }
  const std::filesystem::path here = std::filesystem::path(name) / k_info_file;
  std::error_code none;
  if (std::filesystem::exists(here, none) &&
      !std::filesystem::equivalent(here, found / k_info_file, none)) {
    log::warn(name + " is taken for the avatar in " + found.string() +
              ", not for the folder here: " + "for that one write ./" + name);
  }
  return found;
}

}  // namespace navtalk::cmd
