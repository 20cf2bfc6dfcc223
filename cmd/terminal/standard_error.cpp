#include "cmd/terminal/standard_error.h"

#include <cstdio>

namespace navtalk::cmd {

void write_standard_error(std::string_view text) noexcept {
  // fmt::print() would throw.
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace navtalk::cmd
