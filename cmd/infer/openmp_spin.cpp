#include "cmd/infer/openmp_spin.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace navtalk::cmd {
namespace {

constexpr const char* k_spins = "1000";  // some ten microseconds

}  // namespace

void limit_openmp_spinning(char** argv) {
  if (std::getenv("GOMP_SPINCOUNT") != nullptr || std::getenv("OMP_WAIT_POLICY") != nullptr) return;
  ::setenv("GOMP_SPINCOUNT", k_spins, 0);
  std::error_code failed;
  const auto executable = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (!failed) ::execv(executable.c_str(), argv);
}

}  // namespace navtalk::cmd
