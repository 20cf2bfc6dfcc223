#include "cmd/artifacts/model_store.h"

#include <sstream>

#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/files/cache_directory.h"
#include "core/files/secret_file.h"

namespace navtalk::cmd {

std::optional<std::filesystem::path> FetchedArtifacts::find(const Key& key) const {
  return folders_.with([&](const auto& folders) -> std::optional<std::filesystem::path> {
    const auto found = folders.find(key);
    if (found == folders.end()) return std::nullopt;
    return found->second.path;
  });
}

std::filesystem::path FetchedArtifacts::add(const Key& key, CachedFolder folder) {
  return folders_.with([&](auto& folders) {
    return folders.try_emplace(key, std::move(folder)).first->second.path;
  });
}

namespace {

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream words(text);
  std::vector<std::string> all;
  for (std::string word; words >> word;) all.push_back(word);
  return all;
}

std::string on_the_web(const std::vector<std::string>& addresses) {
  std::string text;
  for (const std::string& address : addresses) {
    if (address.starts_with("https://")) text += (text.empty() ? "" : " ") + address;
  }
  return text;
}

}  // namespace

std::vector<std::string> model_sources(const Config& config) {
  return words_of(config.models.source);
}

std::string peer_token(const Config& config) {
  return read_secret({.name = "peers' token", .variable = "NAVTALK_PEER_TOKEN"},
                     config.models.peer_token_file);
}

PeerOptions peer_options(const Config& config, const std::string& token) {
  return {.addresses = words_of(config.models.peers),
          .token = token,
          .allow_http = config.pool.allow_http_workers};
}

bool has_model_sources(const Context& context) { return !model_sources(context.config).empty(); }

SourceOptions source_options() {
  return {.variable = [](const char* name) { return environment_value(name); }};
}

FetchOptions fetch_options(const Context& context, const Progress& progress) {
  const auto cache = cache_directory();
  if (!cache)
    throw Error(Code::invalid,
                "there is no place for what is fetched: set HOME, XDG_CACHE_HOME or "
                "CACHE_DIRECTORY");
  FetchOptions options{.sources = model_sources(context.config),
                       .source = source_options(),
                       .peers = peer_options(context.config, peer_token(context.config)),
                       .cache = *cache / "artifacts",
                       .cache_bytes = static_cast<std::uint64_t>(context.config.models.cache_bytes),
                       .progress = progress};
  if (options.sources.empty())
    throw Error(Code::invalid, "no model store is configured: set models.source, or give --source");
  return options;
}

std::filesystem::path fetched_folder(ArtifactKind kind, const std::string& name,
                                     const Context& context, const Progress& progress) {
  const FetchedArtifacts::Key key(kind, name);
  if (auto found = context.fetched->find(key)) return *found;
  FetchedArtifact fetched =
      fetch_artifact(kind, name, fetch_options(context, progress), context.stop);
  return context.fetched->add(key, std::move(fetched.folder));
}

std::map<std::string, std::string> pod_variables(const Config& config) {
  const std::string sources = on_the_web(model_sources(config));
  if (sources.empty()) return {};
  std::map<std::string, std::string> variables = {{"NAVTALK_MODELS_SOURCE", sources}};
  std::error_code none;
  if (!config.models.path.empty() && !std::filesystem::exists(config.models.path, none))
    variables["NAVTALK_MODELS_PATH"] = config.models.path.filename();
  if (const std::string peers = on_the_web(words_of(config.models.peers)); !peers.empty()) {
    variables["NAVTALK_MODELS_PEERS"] = peers;
    if (std::string token = peer_token(config); !token.empty())
      variables["NAVTALK_PEER_TOKEN"] = std::move(token);
  }
  return variables;
}

std::vector<std::string> store_credentials() {
  std::vector<std::string> variables;
  for (const char* name : {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",
                           "NAVTALK_HUB_TOKEN", "NAVTALK_PEER_TOKEN"}) {
    const std::string value = environment_value(name);
    if (!value.empty()) variables.push_back(std::string(name) + "=" + value);
  }
  return variables;
}

}  // namespace navtalk::cmd
