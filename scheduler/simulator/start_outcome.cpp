#include "scheduler/simulator/start_outcome.h"

#include <cmath>

#include "scheduler/simulator/random.h"

namespace navtalk {
namespace {

enum Stream : std::uint64_t { kind = 11, lead = 12, crash = 13 };

double median_s(const SimulatorOptions& options, Source source, Operation operation) {
  if (operation == Operation::wake) {
    return source == Source::cloud ? options.cloud_wake_s : options.wake_s;
  }
  return source == Source::cloud ? options.lead_s : options.local_lead_s;
}

}  // namespace

StartOutcome start_outcome(const SimulatorOptions& options, Source source, Operation operation,
                           std::uint64_t number) {
  const Faults& faults = options.faults;
  const double z = normal_quantile(uniform(options.seed, lead, number));
  const double lead_s = median_s(options, source, operation) * std::exp(options.lead_sigma * z);
  double draw = uniform(options.seed, kind, number);
  const auto hits = [&](double chance) {
    draw -= chance;
    return draw < 0;
  };
  // A failure shows itself while it would have started.
  const Duration ready = from_seconds(lead_s), failure = from_seconds(5 + lead_s / 2);
  if (operation == Operation::wake) {
    return hits(faults.wake_fails) ? StartOutcome{StartOutcome::Kind::fails, failure}
                                   : StartOutcome{StartOutcome::Kind::ready, ready};
  }
  if (source == Source::cloud && hits(faults.no_capacity)) {
    return {StartOutcome::Kind::no_capacity, k_call};
  }
  if (hits(faults.fails)) return {StartOutcome::Kind::fails, failure};
  if (hits(faults.hangs)) return {StartOutcome::Kind::hangs, {}};
  if (source == Source::cloud && hits(faults.unknown / 2))
    return {StartOutcome::Kind::unknown, ready};
  if (source == Source::cloud && hits(faults.unknown / 2))
    return {StartOutcome::Kind::unknown_none, {}};
  return {StartOutcome::Kind::ready, ready};
}

std::optional<Duration> crash_after(const SimulatorOptions& options, std::uint64_t number) {
  if (options.faults.crashes_per_h <= 0) return std::nullopt;
  const double hours =
      -std::log(uniform(options.seed, crash, number)) / options.faults.crashes_per_h;
  return from_seconds(hours * 3600);
}

}  // namespace navtalk
