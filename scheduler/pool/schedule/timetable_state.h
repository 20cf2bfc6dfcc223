// Which entries of the timetable are active, as the scaler recorded at its last tick, for processes
// without the configuration. Plain values.
#pragma once

#include "scheduler/pool/schedule/timetable.h"
#include "scheduler/pool/settings.h"

namespace navtalk {

struct TimetableState {
  std::optional<ActiveEntry> schedule{};
  std::vector<ActiveEntry> maintenance{};

  friend bool operator==(const TimetableState&, const TimetableState&) = default;
};
std::string as_text(const TimetableState& state);
std::optional<TimetableState> parse_timetable_state(std::string_view text);
inline constexpr Setting<TimetableState> k_timetable_state{setting_name::k_timetable, as_text,
                                                           parse_timetable_state};

// GPUs that were drained for a maintenance window and return at its end; without those that an operator
// drained.
using MaintenanceDrains = std::vector<GpuId>;
std::string as_text(const MaintenanceDrains& drains);
std::optional<MaintenanceDrains> parse_maintenance_drains(std::string_view text);
inline constexpr Setting<MaintenanceDrains> k_maintenance_drains{setting_name::k_maintenance_drains,
                                                                 as_text, parse_maintenance_drains};

}  // namespace navtalk
