// Parsing of a worker's answers. Stateless.
#pragma once

#include <optional>
#include <string>

#include "scheduler/health/worker_client.h"

namespace navtalk {

// nullopt when it is not a worker's health: not a JSON object, or one without state and slots.
std::optional<WorkerHealth> parse_worker_health(const std::string& body);
// The message of {"error":{"code","message"}}; nullopt for other text.
std::optional<std::string> worker_error(const std::string& body);
std::optional<std::string> worker_error_code(const std::string& body);

}  // namespace navtalk
