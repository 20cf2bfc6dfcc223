// How long an OpenMP thread spins at a barrier before it sleeps.
#pragma once

namespace navtalk::cmd {

// libgomp spins for milliseconds by default, and the nets have hundreds of barriers a frame: beside
// any other busy thread (the video encoder is one) most of the time is then spent spinning, up to
// ten times the work itself. libgomp reads its settings when it is loaded, so the only way to set
// them is to start the program anew. Returns at once when OMP_WAIT_POLICY or GOMP_SPINCOUNT is
// already set, or when the program cannot be started anew.
void limit_openmp_spinning(char** argv);

}  // namespace navtalk::cmd
