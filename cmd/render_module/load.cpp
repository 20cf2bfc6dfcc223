// Loads the module at first use, and refuses one of another build.
#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "cmd/render_module/build_id.h"
#include "cmd/render_module/render_module.h"
#include "core/base/error.h"
#include "core/text/printable.h"

namespace navtalk::cmd {
namespace {

namespace fs = std::filesystem;

// Beside the program, in a build tree as in an installation.
fs::path module_file() {
  return fs::read_symlink("/proc/self/exe").parent_path().parent_path() /
         "lib/navtalk/navtalk-render.so";
}

// libgomp spins for milliseconds at a barrier by default, and the nets have hundreds of barriers a
// frame: beside any other busy thread (the video encoder is one) most of the time is then spent
// spinning, up to ten times the work itself. libgomp reads its settings when it is loaded.
void limit_openmp_spinning() {
  constexpr const char* k_spins = "1000";  // some ten microseconds
  if (std::getenv("OMP_WAIT_POLICY") == nullptr) ::setenv("GOMP_SPINCOUNT", k_spins, 0);
}

[[noreturn]] void refuse(const fs::path& file, const std::string& why) {
  throw Error(Code::failed,
              fmt::format("{} {}: install navtalk's files again, or build all of them",
                          printable(file.native()), why));
}

const RenderModule& load(const fs::path& file) {
  std::error_code ignored;
  if (!fs::exists(file, ignored)) refuse(file, "is missing, which this command needs");
  limit_openmp_spinning();
  void* const handle = ::dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) refuse(file, fmt::format("cannot be loaded ({})", printable(::dlerror())));
  using Entry = const RenderModule* (*)();
  const auto entry = reinterpret_cast<Entry>(::dlsym(handle, "navtalk_render_module"));
  if (entry == nullptr) refuse(file, "is not navtalk's module");
  const RenderModule& module = *entry();
  if (std::string_view(module.build_id) != build_id())
    refuse(file, "belongs to another build of navtalk");
  return module;
}

}  // namespace

const RenderModule& render_module() {
  static const RenderModule& module = load(module_file());
  return module;
}

}  // namespace navtalk::cmd
