// What a tick of the scaler does: which GPUs to wake, create, pause and destroy so that the target
// is met. A value.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "scheduler/provision/blocked_by.h"
#include "scheduler/scaling/target.h"

namespace navtalk {

struct Action {
  enum class Kind : std::uint8_t {
    wake,
    create,
    pause,
    destroy,
    fail,          // its start took too long: Event::fail
    clear_failed,  // failed for longer than the hold: destroy
    drain,         // too old: it takes no new sessions, so that it can be replaced
  };
  Kind kind = Kind::create;
  std::size_t index = 0;  // into Snapshot::gpus; meaningless for create
  GpuId gpu{};            // empty for create
  Source source = Source::local;
  std::string_view why{};  // a phrase for people; points to a literal

  friend bool operator==(const Action&, const Action&) = default;
};
std::string_view name(Action::Kind kind);

struct Plan {
  std::vector<Action> actions{};
  Capacity capacity{};
  Target target{};
  std::optional<Target> shadow{};  // the target of the shadow policy
  bool cloud = false;              // the cloud switch
  BlockedBy blocked_by = BlockedBy::none;
  int missing = 0;  // slots that could not be started, for that reason
  int kept = 0;     // slots of surplus GPUs in their hold (in_idle_hold)
  ScalerMemory memory{};

  friend bool operator==(const Plan&, const Plan&) = default;
};

}  // namespace navtalk
