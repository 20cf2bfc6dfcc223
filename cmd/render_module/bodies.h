// The commands' work inside the module. Private to cmd/render_module; others call them through
// render_module().
#pragma once

#include "cmd/render_module/render_module.h"

namespace navtalk::cmd {

int infer(InferOptions& options, Context& context);
VideoRenderer video_renderer(const InferOptions& options, Context& context);
// Error{usage}: not the name of a PNG.
void check_preview(const std::filesystem::path& file, bool force);
void write_contact_sheet(const std::filesystem::path& directory, const std::filesystem::path& file,
                         bool force, const MediaLimits& limits);
void preview_avatar(const std::filesystem::path& directory, const std::filesystem::path& file,
                    bool force, const MediaLimits& limits);
int prepare_avatar(const AvatarPrepareOptions& options, Context& context);
int import_avatar(const AvatarImportOptions& options, Context& context);
int export_avatar(const AvatarExportOptions& options, Context& context);
int bench_faces(const BenchFacesOptions& options, Context& context);
int bench_image(const BenchImageOptions& options, Context& context);
int bench_pipeline(const BenchPipelineOptions& options, Context& context);
int verify_model(const ModelVerifyOptions& options, Context& context);

}  // namespace navtalk::cmd
