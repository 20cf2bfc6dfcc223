#include "scheduler/pool/gpu.h"

#include <array>

#include "scheduler/pool/history.h"

namespace navtalk {
namespace {

constexpr std::array<std::string_view, 3> k_source_names = {"local", "external", "cloud"};
constexpr std::array<std::string_view, 5> k_operation_names = {"none", "create", "wake", "pause",
                                                               "destroy"};
constexpr std::array<std::string_view, 5> k_result_names = {"ok", "no_capacity", "refused",
                                                            "failed", "timed_out"};

}  // namespace

std::string_view name(Source source) { return k_source_names.at(static_cast<std::size_t>(source)); }

std::string_view name(Operation operation) {
  return k_operation_names.at(static_cast<std::size_t>(operation));
}

std::string_view name(Attempt::Result result) {
  return k_result_names.at(static_cast<std::size_t>(result));
}

bool shared(const Gpu& gpu) { return gpu.dedicated_to.empty() && !gpu.draining; }

bool silent(const Gpu& gpu) { return gpu.serving() && gpu.misses >= k_silent_misses; }

std::optional<GpuReading> current_reading(const Gpu& gpu, TimePoint now) {
  const GpuReading& reading = gpu.reading;
  const bool holds = reading.at > TimePoint{} && now - reading.at <= k_reading_lasts;
  return holds && gpu.serving() && !silent(gpu) ? std::optional(reading) : std::nullopt;
}

std::optional<double> load_ratio(const GpuReading& reading) {
  return reading.load_percent ? std::optional(*reading.load_percent / 100.0) : std::nullopt;
}

int coming_slots(const Gpu& gpu) {
  const bool comes = (gpu.serving() && !silent(gpu)) || gpu.state == State::starting;
  return shared(gpu) && comes ? gpu.free_slots() + gpu.lent : 0;
}

int silent_slots(const Gpu& gpu) {
  return shared(gpu) && silent(gpu) ? gpu.free_slots() + gpu.lent : 0;
}

void ComingSlots::add(const Gpu& gpu) {
  slots += coming_slots(gpu);
  silent += silent_slots(gpu);
}

bool ComingSlots::enough(std::size_t waiters, int spare) const {
  const int waiting = static_cast<int>(waiters);
  return slots >= waiting && slots + silent >= waiting + spare;
}

Intent next_intent(const Gpu& gpu, Operation operation, TimePoint now) {
  return {.operation = operation, .number = gpu.intent.number + 1, .since = now};
}

Intent cleared_intent(const Gpu& gpu) { return {.number = gpu.intent.number}; }

bool being_woken(const Gpu& gpu) {
  return gpu.state == State::starting && gpu.seen_at > TimePoint{} && gpu.seen_at < gpu.since;
}

bool nothing_was_made(const Gpu& gpu) {
  const bool over = gpu.state == State::failed || gpu.state == State::stopping;
  return over && gpu.source == Source::cloud && gpu.provider_id.empty() && gpu.usd_per_hour <= 0;
}

// Any later intent has another number.
bool kept_paused(const Gpu& gpu) {
  return gpu.operator_pause != 0 && gpu.operator_pause == gpu.intent.number;
}

bool claimable(const Gpu& gpu, const TenantId& tenant) {
  const bool allowed = gpu.dedicated_to.empty() || gpu.dedicated_to == tenant;
  return gpu.serving() && !silent(gpu) && allowed && !gpu.draining && gpu.free_slots() > 0;
}

}  // namespace navtalk
