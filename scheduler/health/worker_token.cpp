#include "scheduler/health/worker_token.h"

namespace navtalk {

std::string worker_token(const std::filesystem::path& file, MissingSecret missing) {
  return read_secret({.name = "worker token", .variable = "NAVTALK_WORKER_TOKEN"}, file, missing);
}

}  // namespace navtalk
