#include "scheduler/pool/state.h"

#include <array>
#include <string>

namespace navtalk {
namespace {

constexpr std::array<std::string_view, k_states> k_state_names = {"idle",   "running", "starting",
                                                                  "paused", "failed",  "stopping"};
constexpr std::array<std::string_view, k_events> k_event_names = {
    "ready", "session_opened", "emptied", "wake", "pause", "paused", "destroy", "fail"};

}  // namespace

std::string_view name(State state) { return k_state_names.at(static_cast<std::size_t>(state)); }

std::string_view name(Event event) { return k_event_names.at(static_cast<std::size_t>(event)); }

std::optional<State> parse_state(std::string_view text) {
  for (std::size_t code = 0; code < k_state_names.size(); ++code) {
    if (text == k_state_names[code] || text == std::to_string(code)) {
      return static_cast<State>(code);
    }
  }
  return std::nullopt;
}

}  // namespace navtalk
