#include "cmd/modules/module_file.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>

#include "cmd/modules/build_id.h"
#include "core/base/error.h"
#include "core/text/printable.h"

namespace navtalk::cmd {
namespace {

namespace fs = std::filesystem;

// Beside the program, in a build tree as in an installation.
fs::path module_path(std::string_view file) {
  return fs::read_symlink("/proc/self/exe").parent_path().parent_path() / "lib/navtalk" / file;
}

[[noreturn]] void refuse(const fs::path& path, const std::string& why) {
  throw Error(Code::failed,
              fmt::format("{} {}: install navtalk's files again, or build all of them",
                          printable(path.native()), why));
}

}  // namespace

void* load_module(std::string_view file, const char* entry) {
  const fs::path path = module_path(file);
  std::error_code ignored;
  if (!fs::exists(path, ignored)) refuse(path, "is missing, which this command needs");
  void* const handle = ::dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) refuse(path, fmt::format("cannot be loaded ({})", printable(::dlerror())));
  void* const function = ::dlsym(handle, entry);
  if (function == nullptr) refuse(path, "is not navtalk's module");
  return function;
}

void check_build(std::string_view file, const char* build_id) {
  if (std::string_view(build_id) != cmd::build_id())
    refuse(module_path(file), "belongs to another build of navtalk");
}

}  // namespace navtalk::cmd
