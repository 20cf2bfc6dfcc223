// The limit on open files. A gateway has a connection for each user and for each worker that it
// probes; the usual soft limit of 1024 is for programs that call select().
#pragma once

namespace navtalk {

// Raises the soft limit as far as the hard one allows, to 65,536 at most.
void raise_open_files();

}  // namespace navtalk
