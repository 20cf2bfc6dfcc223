// The module's one exported function: its build, and the table of what it can do.
#include <navtalk_build_id.h>  // written by cmake/build_id.cmake
#include "avatars/bundle/bundle.h"
#include "cmd/render_module/bodies.h"

namespace navtalk::cmd {

extern "C" const RenderModule* navtalk_render_module() {
  static const RenderModule module{
      .build_id = NAVTALK_BUILD_ID,
      .infer = infer,
      .video_renderer = video_renderer,
      .open_avatar = [](const std::filesystem::path& directory,
                        const MediaLimits& limits) { Bundle::open(directory, limits); },
      .preview_avatar = preview_avatar,
      .prepare_avatar = prepare_avatar,
      .import_avatar = import_avatar,
      .export_avatar = export_avatar,
      .bench_faces = bench_faces,
      .bench_image = bench_image,
      .bench_pipeline = bench_pipeline,
      .verify_model = verify_model,
      .render_engine = server::render_engine};
  return &module;
}

}  // namespace navtalk::cmd
