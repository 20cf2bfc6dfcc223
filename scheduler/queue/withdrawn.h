// Do operators keep users from every GPU? Pure.
#pragma once

#include <span>

#include "scheduler/pool/gpu.h"

namespace navtalk {

// True while every GPU that could serve is drained, or paused by an operator, and at least one is: users wait until somebody undoes
// that. False where another GPU serves, starts, or may be woken.
bool withdrawn(std::span<const Gpu> gpus);

}  // namespace navtalk
