#include "scheduler/forecast/wait_estimate.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "scheduler/forecast/normal.h"
#include "scheduler/pool/lending.h"

namespace navtalk {
namespace {

constexpr double k_z90 = 1.2815515655446004;
constexpr double k_longest_s = 6 * 3600;

// A lead time as a lognormal through its median and its 90th percentile.
class Start {
 public:
  Start(const LeadTime& lead, double elapsed_s, int slots)
      : mu_(std::log(std::max(in_seconds(lead.p50), 0.01))),
        sigma_(std::max(0.05, (std::log(std::max(in_seconds(lead.p90), 0.01)) - mu_) / k_z90)),
        elapsed_s_(elapsed_s),
        again_s_(in_seconds(lead.p90)),
        success_rate_(lead.success_rate),
        begun_(below(elapsed_s)),
        slots_(slots) {}

  // The chance that it is ready within `s` from now. One that fails is tried again.
  double ready_within(double s) const {
    const double here = begun_ >= 0.999 ? below(s)  // overdue: as good as begun anew
                                        : (below(elapsed_s_ + s) - begun_) / (1 - begun_);
    return success_rate_ * here + (1 - success_rate_) * success_rate_ * below(s - again_s_);
  }
  // For how long of `s` from now it may be expected to be ready, in seconds.
  double ready_time(double s) const {
    constexpr int k_points = 4;
    double sum = 0;
    for (int i = 0; i < k_points; ++i) sum += ready_within(s * (i + 0.5) / k_points);
    return s * sum / k_points;
  }
  int slots() const { return slots_; }

 private:
  double below(double s) const { return s <= 0 ? 0 : normal_below((std::log(s) - mu_) / sigma_); }
  double mu_, sigma_, elapsed_s_, again_s_, success_rate_, begun_;
  int slots_;
};

// How many slots become free within a time: the probabilities of 0 .. wanted-1.
class Slots {
 public:
  // Begins with those that ending sessions free: a Poisson number with this mean.
  Slots(std::size_t wanted, double left) : few_(wanted, 0.0) {
    double chance = std::exp(-left);
    for (std::size_t n = 0; n < wanted; ++n) {
      few_[n] = chance;
      chance *= left / static_cast<double>(n + 1);
    }
  }

  void add(double chance, int slots) {
    const auto step = static_cast<std::size_t>(slots);
    for (std::size_t n = few_.size(); n-- > 0;) {
      few_[n] = few_[n] * (1 - chance) + (n >= step ? few_[n - step] * chance : 0);
    }
  }
  double enough() const {
    double sum = 0;
    for (const double p : few_) sum += p;
    return 1 - sum;
  }

 private:
  std::vector<double> few_;
};

// While there are waiters, a slot that becomes free is taken at once and becomes free again. Lengths
// of sessions are taken as exponential, so that the rest of one does not depend on its age. Slots of
// starting GPUs become free again only if waiters ahead take them.
double enough_within(double s, std::size_t wanted, const std::vector<Start>& starts, int taken,
                     double session_s) {
  double slot_seconds = taken * s;
  std::size_t starting = 0;
  for (const Start& start : starts) starting += static_cast<std::size_t>(start.slots());
  for (const Start& start : starts) {
    if (wanted > starting) slot_seconds += start.slots() * start.ready_time(s);
  }
  Slots slots(wanted, slot_seconds / session_s);
  for (const Start& start : starts) slots.add(start.ready_within(s), start.slots());
  return slots.enough();
}

}  // namespace

std::optional<Eta> estimate(std::size_t position, std::span<const Gpu> gpus, const Demand& demand,
                            double eta_correction, TimePoint now) {
  std::vector<Start> starts;
  int busy = 0, free = 0, lent = 0;
  for (const Gpu& gpu : gpus) {
    if (!shared(gpu)) continue;
    if (gpu.serving()) {
      busy += gpu.sessions - gpu.lent;
      if (!silent(gpu)) free += gpu.free_slots();
      if (!silent(gpu)) lent += gpu.lent;
    }
    if (gpu.state != State::starting || starts.size() >= position * 4 + 32) continue;
    const bool woken = gpu.intent.operation == Operation::wake;
    const LeadTime& lead = woken ? demand.wake_at(gpu.source) : demand.create_at(gpu.source);
    // It may be refused as the last one was.
    const bool asked = gpu.intent.operation != Operation::none;
    if (asked && lead.no_capacity_in_row > 0) continue;
    starts.emplace_back(lead, std::max(0.0, in_seconds(now - gpu.since)), gpu.slots);
  }
  if (position <= static_cast<std::size_t>(free)) return Eta{Duration::zero()};
  free += lent;
  const std::size_t ahead = static_cast<std::size_t>(free);
  if (position <= ahead) return Eta{k_lent_back};
  const std::size_t wanted = position - ahead;
  const auto enough = [&](double s) {
    return enough_within(s, wanted, starts, busy + free, demand.session_s) >= k_promise;
  };
  double below = 0, above = 1;
  while (!enough(above)) {
    below = above;
    above *= 2;
    if (above > k_longest_s) return std::nullopt;
  }
  while (above - below > 0.25 && above - below > 0.01 * above) {
    const double middle = (below + above) / 2;
    (enough(middle) ? above : below) = middle;
  }
  return Eta{from_seconds(above * eta_correction)};
}

}  // namespace navtalk
