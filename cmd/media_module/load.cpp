// Loads the module at first use, and refuses one of another build.
#include "cmd/media_module/media_module.h"
#include "cmd/modules/module_file.h"

namespace navtalk::cmd {
namespace {

constexpr const char* k_media_file = "navtalk-media.so";

const MediaModule& loaded_media() {
  using Entry = const MediaModule* (*)();
  const MediaModule& module =
      *reinterpret_cast<Entry>(load_module(k_media_file, "navtalk_media_module"))();
  check_build(k_media_file, module.build_id);
  return module;
}

}  // namespace

const MediaModule& media_module() {
  static const MediaModule& module = loaded_media();
  return module;
}

}  // namespace navtalk::cmd
