// FFmpeg for a process that does nothing else with what it reads: core/media in a module of its own, which loads in a
// fraction of the time of navtalk-render.so (cmd/render_module/render_module.h), and brings neither nets nor threads.
#pragma once

#include <string>
#include <variant>

#include "core/media/measure_sound.h"

namespace navtalk::cmd {

struct MediaModule {
  const char* build_id;  // of the libraries that it was linked from
  decltype(&navtalk::measure_sound) measure_sound;
};

// lib/navtalk/navtalk-media.so, loaded by the first call, for the rest of the process; Error{failed} names the file that
// is missing, broken or of another build.
const MediaModule& media_module();

// The module's only entry point.
extern "C" const MediaModule* navtalk_media_module();

}  // namespace navtalk::cmd
