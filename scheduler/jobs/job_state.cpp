#include "scheduler/jobs/job_state.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace navtalk {
namespace {

constexpr std::array<std::string_view, k_job_states> k_state_names = {
    "queued", "released", "running", "done", "failed", "dead", "cancelled"};
constexpr std::array<std::string_view, k_job_events> k_event_names = {
    "submit",  "release", "claim", "segment", "finish",   "refuse", "retry",
    "exhaust", "lose",    "yield", "cancel",  "resubmit", "intend", "promise"};

}  // namespace

std::string_view name(JobState state) { return k_state_names.at(static_cast<std::size_t>(state)); }
std::string_view name(JobEvent event) { return k_event_names.at(static_cast<std::size_t>(event)); }

std::optional<JobState> parse_job_state(std::string_view text) {
  const auto* const found = std::ranges::find(k_state_names, text);
  if (found == k_state_names.end()) return std::nullopt;
  return static_cast<JobState>(found - k_state_names.begin());
}

}  // namespace navtalk
