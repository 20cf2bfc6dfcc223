#include "server/worker/job/face_model.h"

#include <fmt/format.h>

#include "gpu/model/model_files.h"

namespace navtalk::server {
namespace {

namespace fs = std::filesystem;

// A file that is replaced by one of the same size has another time.
std::string identity(const fs::path& file) {
  std::error_code gone;
  const auto size = fs::file_size(file, gone);
  const auto written = fs::last_write_time(file, gone).time_since_epoch().count();
  return fmt::format("{} {} {}", fs::canonical(file, gone).native(), size, written);
}

}  // namespace

std::optional<FaceModel> shared_face_model(const fs::path& models, const ModelInfo& info) {
  if (!info.execution.same_in_batches) return std::nullopt;
  const ModelFiles files = find_model_files(models);
  return FaceModel{.name = fmt::format("{}\n{}\n{} {}", identity(files.unet), identity(files.vae),
                                       info.context_rows, info.context_width),
                   .rows = info.context_rows,
                   .width = info.context_width};
}

}  // namespace navtalk::server
