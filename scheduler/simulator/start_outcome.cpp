#include "scheduler/simulator/start_outcome.h"

#include <cmath>

#include "scheduler/simulator/random.h"

namespace navtalk {
namespace {

enum Stream : std::uint64_t { luck = 11, lead = 12, crash = 13 };

double median_s(const SimulatorOptions& options, Source source, Operation operation) {
  if (operation == Operation::wake) {
    return source == Source::cloud ? options.cloud_wake_s : options.wake_s;
  }
  return source == Source::cloud ? options.lead_s : options.local_lead_s;
}

}  // namespace

Fate fate(const SimulatorOptions& options, Source source, Operation operation,
          std::uint64_t number) {
  const Mishaps& mishaps = options.mishaps;
  const double z = normal_quantile(uniform(options.seed, lead, number));
  const double lead_s = median_s(options, source, operation) * std::exp(options.lead_sigma * z);
  double luck_left = uniform(options.seed, luck, number);
  const auto hits = [&](double chance) {
    luck_left -= chance;
    return luck_left < 0;
  };
  // A failure shows itself while it would have started.
  const Duration ready = from_seconds(lead_s), failure = from_seconds(5 + lead_s / 2);
  if (operation == Operation::wake) {
    return hits(mishaps.wake_fails) ? Fate{Fate::Kind::fails, failure}
                                    : Fate{Fate::Kind::ready, ready};
  }
  if (source == Source::cloud && hits(mishaps.no_capacity)) {
    return {Fate::Kind::no_capacity, k_call};
  }
  if (hits(mishaps.fails)) return {Fate::Kind::fails, failure};
  if (hits(mishaps.hangs)) return {Fate::Kind::hangs, {}};
  if (source == Source::cloud && hits(mishaps.unclear / 2)) return {Fate::Kind::unclear, ready};
  if (source == Source::cloud && hits(mishaps.unclear / 2)) return {Fate::Kind::unclear_none, {}};
  return {Fate::Kind::ready, ready};
}

std::optional<Duration> crash_after(const SimulatorOptions& options, std::uint64_t number) {
  if (options.mishaps.crashes_per_h <= 0) return std::nullopt;
  const double hours =
      -std::log(uniform(options.seed, crash, number)) / options.mishaps.crashes_per_h;
  return from_seconds(hours * 3600);
}

}  // namespace navtalk
