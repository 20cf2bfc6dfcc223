#include "server/worker/phase.h"

#include <catch2/catch.hpp>

using navtalk::State;
using namespace navtalk::server;

TEST_CASE(
    "the pool sees a state for every phase of a worker, drained or not, with and without "
    "sessions") {
  struct Row {
    Phase phase;
    State idle, busy, draining;  // without sessions; with one; in a drain, with any number
  };
  for (const Row& row : {Row{Phase::starting, State::starting, State::starting, State::starting},
                         Row{Phase::waking, State::starting, State::starting, State::starting},
                         Row{Phase::ready, State::idle, State::running, State::stopping},
                         Row{Phase::pausing, State::stopping, State::stopping, State::stopping},
                         Row{Phase::paused, State::paused, State::paused, State::paused},
                         Row{Phase::failed, State::failed, State::failed, State::failed}}) {
    INFO(static_cast<int>(row.phase));
    CHECK(pool_state(row.phase, false, 0) == row.idle);
    CHECK(pool_state(row.phase, false, 1) == row.busy);
    CHECK(pool_state(row.phase, true, 0) == row.draining);
    CHECK(pool_state(row.phase, true, 1) == row.draining);
  }
}
