// The limit on open files. A gateway has a connection for each user and for each worker that it
// probes; the usual soft limit of 1024 is for programs that call select().
#pragma once

#include <cstddef>

namespace navtalk {

// Raises the soft limit as far as the hard one allows, to 65,536 at most.
void raise_open_files();
// The soft limit as it is now.
std::size_t open_file_limit();

}  // namespace navtalk
