// A source in a folder: of this machine, or of a disk that several machines mount. Private to core/artifacts.
#pragma once

#include <filesystem>
#include <memory>

#include "core/artifacts/source.h"

namespace navtalk {

std::unique_ptr<ArtifactSource> folder_source(const std::filesystem::path& folder);

}  // namespace navtalk
