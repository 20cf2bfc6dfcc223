// Text on standard error that the work does not depend on: progress, and why the program failed. Thread-safe.
#pragma once

#include <string_view>

namespace navtalk::cmd {

// Text that cannot be written is lost: whoever read it may be gone, such as the gateway that started a worker.
void write_standard_error(std::string_view text) noexcept;

}  // namespace navtalk::cmd
