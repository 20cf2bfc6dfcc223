// What a worker's answers say. Stateless.
#pragma once

#include <optional>
#include <string>

#include "scheduler/health/worker_client.h"

namespace navtalk {

// nullopt when it is no health of a worker: no JSON object, or one without state and slots.
std::optional<WorkerHealth> parse_worker_health(const std::string& body);
// The message of {"error":{"code","message"}}; nullopt when the text is none.
std::optional<std::string> worker_error(const std::string& body);
std::optional<std::string> worker_error_code(const std::string& body);

}  // namespace navtalk
