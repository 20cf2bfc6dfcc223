// Runpod's status of a pod as the scheduler names it in a provider's list. Pure. Routing does not
// depend on it: the worker's own health decides.
#pragma once

#include "runpod/api/messages.h"
#include "scheduler/provision/provider.h"

namespace navtalk::runpod {

Instance::Status instance_status(PodStatus status);

}  // namespace navtalk::runpod
