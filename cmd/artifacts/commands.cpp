#include "cmd/artifacts/commands.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cmd/artifacts/model_store.h"
#include "core/artifacts/push.h"
#include "core/base/error.h"
#include "core/text/printable.h"

namespace navtalk::cmd {
namespace {

nlohmann::ordered_json report(const ArtifactManifest& manifest) {
  return {{"kind", name(manifest.kind)},
          {"name", manifest.name},
          {"digest", manifest.digest()},
          {"files", manifest.files.size()},
          {"bytes", manifest.bytes()}};
}

std::string counted_files(const ArtifactManifest& manifest) {
  return counted(static_cast<std::int64_t>(manifest.files.size()), "file");
}

}  // namespace

void add_source_option(CLI::App& command, std::vector<std::string>& sources) {
  command
      .add_option("--source", sources,
                  "Model store: s3://BUCKET/PREFIX, https://HOST/PATH or a folder; may be given "
                  "again; default: [models] source of the configuration")
      ->allow_extra_args(false)
      ->type_name("SOURCE");
}

void use_sources(const std::vector<std::string>& sources, Context& context) {
  if (sources.empty()) return;
  std::string& configured = context.config.models.source;
  configured.clear();
  for (const std::string& source : sources) {
    if (source.find_first_of(" \t\n") != source.npos)
      throw Error(Code::usage, "--source '" + printable_start(source, 64) +
                                   "': the name of a model store has no blanks");
    configured += (configured.empty() ? "" : " ") + source;
  }
}

int pull(ArtifactKind kind, const std::string& name, Context& context) {
  FetchOptions options = fetch_options(context, context.progress);
  options.verify = true;
  const FetchedArtifact fetched = fetch_artifact(kind, name, options, context.stop);
  if (context.json) {
    nlohmann::ordered_json object = report(fetched.manifest);
    object["downloaded_bytes"] = fetched.downloaded_bytes;
    object["peer_bytes"] = fetched.peer_bytes;
    object["source"] = fetched.source.empty() ? nlohmann::ordered_json(nullptr)
                                              : nlohmann::ordered_json(fetched.source);
    put_path(object, "path", fetched.folder.path);
    context.out.json(object);
    return 0;
  }
  context.clear_progress();
  context.out.print("{}: {}, {} bytes, {} of them downloaded\n",
                    printable(fetched.folder.path.native()), counted_files(fetched.manifest),
                    fetched.manifest.bytes(), fetched.downloaded_bytes);
  return 0;
}

int push(ArtifactKind kind, const std::string& name, const std::filesystem::path& folder,
         const std::vector<std::filesystem::path>& files, Context& context) {
  const std::vector<std::string> sources = model_sources(context.config);
  if (sources.empty())
    throw Error(Code::invalid, "no model store is configured: set models.source, or give --source");
  const auto source = open_source(sources.front(), source_options());
  ArtifactManifest manifest =
      describe_artifact(kind, name, folder, files, context.progress, context.stop);
  const PushResult pushed =
      push_artifact(std::move(manifest), folder, *source, context.progress, context.stop);
  if (context.json) {
    nlohmann::ordered_json object = report(pushed.manifest);
    object["uploaded_bytes"] = pushed.uploaded_bytes;
    object["source"] = source->name();
    context.out.json(object);
    return 0;
  }
  context.clear_progress();
  context.out.print("{} {} in {}: {}, {} bytes, {} of them uploaded\n", navtalk::name(kind),
                    pushed.manifest.name, printable(source->name()), counted_files(pushed.manifest),
                    pushed.manifest.bytes(), pushed.uploaded_bytes);
  return 0;
}

}  // namespace navtalk::cmd
