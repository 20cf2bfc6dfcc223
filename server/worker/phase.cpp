#include "server/worker/phase.h"

namespace navtalk::server {

State pool_state(Phase phase, bool draining, int sessions) {
  switch (phase) {
    case Phase::starting:
    case Phase::waking:
      return State::starting;
    case Phase::ready:
      if (draining) return State::stopping;
      return sessions > 0 ? State::running : State::idle;
    case Phase::pausing:
      return State::stopping;
    case Phase::paused:
      return State::paused;
    case Phase::failed:
      break;
  }
  return State::failed;
}

}  // namespace navtalk::server
