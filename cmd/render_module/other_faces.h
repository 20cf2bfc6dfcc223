// The warning of a model that was made for other faces.
#pragma once

#include <filesystem>
#include <string>

namespace navtalk::cmd {

// Logs a warning unless the model was made for any face, or for this avatar's. Errors of made_for().
void warn_of_other_faces(const std::filesystem::path& models, const std::string& avatar_id);

}  // namespace navtalk::cmd
