#include "scheduler/scaling/snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/text/number.h"

namespace navtalk {
namespace {

std::int64_t ticks(TimePoint at) { return at.time_since_epoch().count(); }
TimePoint at(std::int64_t ticks) { return TimePoint(Duration(ticks)); }

}  // namespace

int SourceState::slots_at(int index) const {
  const auto at = static_cast<std::size_t>(index);
  return at < next_slots.size() ? next_slots[at] : slots;
}

int SourceState::creatable_slots() const {
  constexpr int k_most = 1 << 20;  // "as many as you like" is more
  const int known = std::min(creatable, static_cast<int>(next_slots.size()));
  const int others = std::min(creatable - known, k_most) * slots;
  return std::accumulate(next_slots.begin(), next_slots.begin() + known, others);
}

std::string as_text(const ScalerMemory& memory) {
  return fmt::format("1 {} {} {} {}", memory.cloud_on ? 1 : 0, memory.cloud_need_ticks,
                     ticks(memory.cloud_needed_at), ticks(memory.surge_until));
}

std::optional<ScalerMemory> parse_scaler_memory(std::string_view text) {
  std::array<std::int64_t, 5> fields{};
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) {
      if (!text.starts_with(' ')) return std::nullopt;
      text.remove_prefix(1);
    }
    const auto field = take_number<std::int64_t>(text);
    if (!field) return std::nullopt;
    fields[i] = *field;
  }
  const bool fits = text.empty() && fields[0] == 1 && (fields[1] == 0 || fields[1] == 1) &&
                    fields[2] >= 0 && fields[2] <= 1'000'000'000;
  if (!fits) return std::nullopt;
  return ScalerMemory{.cloud_on = fields[1] == 1,
                      .cloud_need_ticks = static_cast<int>(fields[2]),
                      .cloud_needed_at = at(fields[3]),
                      .surge_until = at(fields[4])};
}

}  // namespace navtalk
