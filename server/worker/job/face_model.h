// What a worker and the process that renders its jobs must have in common for their faces to have the same bytes.
#pragma once

#include <filesystem>
#include <optional>

#include "gpu/model/model.h"
#include "server/worker/job/face_wire.h"

namespace navtalk::server {

// nullopt: faces of this model depend on what else is in a batch, so each process draws its own. `info`: of the model that
// was loaded from the folder, or of the part of it that hears.
std::optional<FaceModel> shared_face_model(const std::filesystem::path& models,
                                           const ModelInfo& info);

}  // namespace navtalk::server
