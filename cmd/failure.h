// How the program says that it failed, and the exit status that follows.
#pragma once

#include <exception>

#include "cmd/terminal/output.h"

namespace navtalk::cmd {

struct FailureStyle {
  bool json = false;    // also {"error":{"code","message"}} on standard output
  bool colour = false;  // standard error wants colour
};

// Prints "navtalk: error: ..." on standard error, after what is still in `out`; returns the exit
// status. Every kind of exception has one.
int report_failure(const std::exception_ptr& exception, const FailureStyle& style, Output& out);

// In a handler of DeviceLost, where what was made on the device is still held: reports it, and ends the process with that exit status. Nothing
// is destroyed: what the process has on the device cannot be given back any more, which would throw from destructors.
[[noreturn]] void end_without_device(const FailureStyle& style, Output& out);

}  // namespace navtalk::cmd
