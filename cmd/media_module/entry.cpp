// The module's one exported function: its build, and what it can do.
#include <navtalk_build_id.h>  // written by cmake/build_id.cmake

#include "cmd/media_module/media_module.h"

namespace navtalk::cmd {

extern "C" const MediaModule* navtalk_media_module() {
  static const MediaModule module{.build_id = NAVTALK_BUILD_ID,
                                  .measure_sound = navtalk::measure_sound};
  return &module;
}

}  // namespace navtalk::cmd
