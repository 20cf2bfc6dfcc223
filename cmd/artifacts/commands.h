// What `model pull|push` and `avatar pull|push` have in common. Private to cmd/.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cmd/context.h"
#include "core/artifacts/manifest.h"

namespace CLI {
class App;
}

namespace navtalk::cmd {

// --source, which may be given several times, instead of models.source.
void add_source_option(CLI::App& command, std::vector<std::string>& sources);
void use_sources(const std::vector<std::string>& sources, Context& context);

// Fetches it and prints where it is.
int pull(ArtifactKind kind, const std::string& name, Context& context);
// Copies the files of a folder, which are named relative to it, to the first source.
int push(ArtifactKind kind, const std::string& name, const std::filesystem::path& folder,
         const std::vector<std::filesystem::path>& files, Context& context);

}  // namespace navtalk::cmd
