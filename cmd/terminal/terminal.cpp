#include "cmd/terminal/terminal.h"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace navtalk::cmd {
namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

bool is_terminal(int descriptor) { return isatty(descriptor) == 1; }

bool wants_colour(int descriptor, bool no_color) {
  if (no_color || !variable("NO_COLOR").empty()) return false;
  const std::string_view force = variable("CLICOLOR_FORCE");
  if (!force.empty() && force != "0") return true;
  return is_terminal(descriptor) && variable("CLICOLOR") != "0" && variable("TERM") != "dumb";
}

}  // namespace navtalk::cmd
