// What a worker's models are doing, and the state that the pool sees for it. Pure.
//
//   starting ──loaded──► ready ◄──loaded── waking ◄──wake── paused
//      │                   └──pause──► pausing ──unloaded──► ┘
//      └──► failed ◄── a wake or pause that did not work
#pragma once

#include "scheduler/pool/state.h"

namespace navtalk::server {

enum class Phase { starting, ready, pausing, paused, waking, failed };

// `draining`: takes no new sessions.
State pool_state(Phase phase, bool draining, int sessions);

}  // namespace navtalk::server
