#include "cmd/render_module/other_faces.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/log/log.h"
#include "gpu/model/made_for.h"

namespace navtalk::cmd {

void warn_of_other_faces(const std::filesystem::path& models, const std::string& avatar_id) {
  const std::vector<std::string> faces = made_for(models);
  if (faces.empty() || std::ranges::find(faces, avatar_id) != faces.end()) return;
  log::warn(
      fmt::format("the model in {} was made for {} only: the face of {} will not look right. "
                  "MuseTalk's weights move any face; navtalk-model(1) says how to get them, and "
                  "--models uses them",
                  models.string(), fmt::join(faces, " and "), avatar_id));
}

}  // namespace navtalk::cmd
