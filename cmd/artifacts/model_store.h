// The model store that the configuration names, as commands use it. Private to cmd/.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cmd/context.h"
#include "core/artifacts/fetch.h"
#include "core/base/guarded.h"

namespace navtalk::cmd {

// What this process has fetched, which stays in the cache as long as this object. Thread-safe.
class FetchedArtifacts {
 public:
  using Key = std::pair<ArtifactKind, std::string>;

  std::optional<std::filesystem::path> find(const Key& key) const;
  // The folder that is used from now on: of two threads that fetched the same, the first one's.
  std::filesystem::path add(const Key& key, CachedFolder folder);

 private:
  Guarded<std::map<Key, CachedFolder>> folders_;
};

// The sources in models.source.
std::vector<std::string> model_sources(const Config& config);
bool has_model_sources(const Context& context);
SourceOptions source_options();
// What peers ask of each other; "" when there is none. Error{invalid} when its file cannot be read.
std::string peer_token(const Config& config);
PeerOptions peer_options(const Config& config, const std::string& token);
// With the sources of the configuration, and a cache in the cache directory. Error{invalid} when there
// is no such directory, or no source.
FetchOptions fetch_options(const Context& context, const Progress& progress);
// The folder of a model or an avatar, fetched at the first call. Errors of fetch_artifact().
std::filesystem::path fetched_folder(ArtifactKind kind, const std::string& name,
                                     const Context& context, const Progress& progress);
// NAME=value for a process of ours that uses the same store: what is withdrawn from the environment.
std::vector<std::string> store_credentials();

// The variables with which a pod uses the same store. Others may read them in clear, so that they name
// the sources on the web alone, which need no credentials; the peers on the web with their token, which
// opens content alone; and models.path where it is a name in the store and not a folder of this machine.
std::map<std::string, std::string> pod_variables(const Config& config);

}  // namespace navtalk::cmd
