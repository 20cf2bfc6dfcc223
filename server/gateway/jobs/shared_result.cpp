#include "server/gateway/jobs/shared_result.h"

#include <nlohmann/json.hpp>

namespace navtalk::server {

std::optional<SharedResult> shared_result(const Job& job) {
  if (job.state != JobState::done) return std::nullopt;
  const auto facts = nlohmann::json::parse(job.result, nullptr, false);
  if (!facts.is_object() || !facts.contains("key")) return std::nullopt;
  return SharedResult{.key = facts.at("key"), .bytes = facts.at("bytes")};
}

}  // namespace navtalk::server
