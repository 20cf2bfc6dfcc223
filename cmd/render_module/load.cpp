// Loads the module at first use, and refuses one of another build.
#include <cstdlib>

#include "cmd/modules/module_file.h"
#include "cmd/render_module/render_module.h"

namespace navtalk::cmd {
namespace {

constexpr const char* k_render_file = "navtalk-render.so";

// libgomp spins for milliseconds at a barrier by default, and the nets have hundreds of barriers a
// frame: beside any other busy thread (the video encoder is one) most of the time is then spent
// spinning, up to ten times the work itself. libgomp reads its settings when it is loaded.
void limit_openmp_spinning() {
  constexpr const char* k_spins = "1000";  // some ten microseconds
  if (std::getenv("OMP_WAIT_POLICY") == nullptr) ::setenv("GOMP_SPINCOUNT", k_spins, 0);
}

const RenderModule& loaded_render() {
  limit_openmp_spinning();
  using Entry = const RenderModule* (*)();
  const RenderModule& module =
      *reinterpret_cast<Entry>(load_module(k_render_file, "navtalk_render_module"))();
  check_build(k_render_file, module.build_id);
  return module;
}

}  // namespace

const RenderModule& render_module() {
  static const RenderModule& module = loaded_render();
  return module;
}

}  // namespace navtalk::cmd
