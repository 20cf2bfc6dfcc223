// What navtalk does with pictures, sound and nets. FFmpeg, OpenCV and libtorch take longer to load
// than most commands take to run, so all that needs them stands in a module, a shared object that
// is loaded by the first command that asks for it:
//
//   bin/navtalk                      every command's options; all that needs no nets; core, once
//      │ render_module()
//   lib/navtalk/navtalk-render.so    this folder but load.cpp; the worker's render engine, avatars,
//                                    gpu, core/media
//
// The module takes what it needs of core and cmd from the program, so both have one log and one
// Error, and an exception may pass from one to the other. They fit only if they were built
// together.
#pragma once

#include "cmd/avatar/exchange.h"
#include "cmd/avatar/prepare.h"
#include "cmd/bench/faces.h"
#include "cmd/bench/image.h"
#include "cmd/bench/pipeline.h"
#include "cmd/context.h"
#include "cmd/infer/infer.h"
#include "cmd/infer/video_renderer.h"
#include "cmd/model/verify.h"
#include "core/media/limits.h"
#include "server/worker/render_engine.h"

namespace navtalk::cmd {

// The commands' functions return the exit status, as an Action does.
struct RenderModule {
  const char* build_id;  // of the libraries that it was linked from
  int (*infer)(InferOptions&, Context&);
  // `options` name the model, the device and the precision of all videos. The context outlives it.
  VideoRenderer (*video_renderer)(const InferOptions& options, Context&);
  // All checks of Bundle::open().
  void (*open_avatar)(const std::filesystem::path& directory, const MediaLimits& limits);
  // The preview of an avatar as PNG; `force` replaces a file.
  void (*preview_avatar)(const std::filesystem::path& directory, const std::filesystem::path& file,
                         bool force, const MediaLimits& limits);
  int (*prepare_avatar)(const AvatarPrepareOptions&, Context&);
  int (*import_avatar)(const AvatarImportOptions&, Context&);
  int (*export_avatar)(const AvatarExportOptions&, Context&);
  int (*bench_faces)(const BenchFacesOptions&, Context&);
  int (*bench_image)(const BenchImageOptions&, Context&);
  int (*bench_pipeline)(const BenchPipelineOptions&, Context&);
  int (*verify_model)(const ModelVerifyOptions&, Context&);
  server::Engine (*render_engine)(const server::RenderEngineOptions&);
};

// Loaded by the first call, for the rest of the process; Error{failed} names the file that is
// missing, broken or of another build. Call it before threads start that read the environment:
// it sets OpenMP up through it.
const RenderModule& render_module();

// The module's only entry point.
extern "C" const RenderModule* navtalk_render_module();

}  // namespace navtalk::cmd
