// A pipe between processes or threads.
#pragma once

#include "core/base/unique_fd.h"

namespace navtalk {

struct Pipe {
  UniqueFd read, write;
};

// Both ends are closed in programs that a child executes. Error(failed) without free descriptors.
Pipe make_pipe();

}  // namespace navtalk
