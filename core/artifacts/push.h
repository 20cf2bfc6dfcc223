// Copies a model or an avatar to a source, where others can fetch it. Stateless.
#pragma once

#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "core/artifacts/manifest.h"
#include "core/artifacts/source.h"
#include "core/base/progress.h"

namespace navtalk {

// Reads all files, whose names are relative to the folder. Error{invalid} for a name that a store
// cannot hold, or an empty file; Error{not_found} for a missing one.
ArtifactManifest describe_artifact(ArtifactKind kind, const std::string& name,
                                   const std::filesystem::path& folder,
                                   const std::vector<std::filesystem::path>& files,
                                   const Progress& progress, const std::stop_token& stop);

struct PushResult {
  ArtifactManifest manifest{};
  std::uint64_t uploaded_bytes = 0;  // the source had the rest
};

// Uploads the content that the source lacks, then the manifest that names it: a reader gets the old
// version or the new one, never a mixture. A folder's content is compared by its SHA-256, a bucket's by its size;
// with `replace` all content is uploaded. Error{failed} with the source's answer.
PushResult push_artifact(ArtifactManifest manifest, const std::filesystem::path& folder,
                         ArtifactSource& source, const Progress& progress,
                         const std::stop_token& stop, bool replace = false);

}  // namespace navtalk
