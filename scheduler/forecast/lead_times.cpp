#include "scheduler/forecast/lead_times.h"

#include <algorithm>
#include <cmath>

namespace navtalk {
namespace {

constexpr std::size_t k_samples = 64;
constexpr double k_attempts_remembered = 50;
constexpr Duration k_same_failure = std::chrono::seconds(5);  // several at once are one
constexpr double k_prior_spread = 1.6;                        // p90 / p50

Duration prior_p90(Duration median) { return from_seconds(in_seconds(median) * k_prior_spread); }

}  // namespace

LeadTimes::LeadTimes(const Medians& create, const Medians& wake) {
  for (std::size_t i = 0; i < k_sources; ++i) {
    create_[i].lead = {.p50 = create[i], .p90 = prior_p90(create[i])};
    wake_[i].lead = {.p50 = wake[i], .p90 = prior_p90(wake[i])};
  }
}

LeadTimeBySource LeadTimes::known(const Histories& histories) {
  LeadTimeBySource leads;
  for (std::size_t i = 0; i < k_sources; ++i) leads[i] = histories[i].lead;
  return leads;
}

void LeadTimes::add(const Attempt& attempt) {
  const bool counts =
      attempt.operation == Operation::create || attempt.operation == Operation::wake;
  if (!counts) return;
  auto& histories = attempt.operation == Operation::create ? create_ : wake_;
  History& history = histories.at(static_cast<std::size_t>(attempt.source));
  LeadTime& lead = history.lead;
  using enum Attempt::Result;
  if (attempt.result == no_capacity) {  // says nothing about GPUs that can be had
    ++lead.no_capacity_in_row;
    lead.last_failure = attempt.at;
    return;
  }
  const double kept = 1 - 1 / k_attempts_remembered;
  history.tried = history.tried * kept + 1;
  history.ok *= kept;
  if (attempt.result == ok) {
    history.ok += 1;
    lead.failures_in_row = lead.no_capacity_in_row = 0;
    succeed(history, attempt.took);
  } else {
    const bool another = attempt.at >= lead.last_failure + k_same_failure;
    if (another || lead.failures_in_row == 0) ++lead.failures_in_row;
    lead.last_failure = attempt.at;
  }
  // The prior is two attempts that succeeded.
  lead.success_rate = (history.ok + 2) / (history.tried + 2);
}

void LeadTimes::succeed(History& history, Duration took) {
  if (history.seconds.size() < k_samples) {
    history.seconds.push_back(in_seconds(took));
  } else {
    history.seconds[history.next] = in_seconds(took);
    history.next = (history.next + 1) % k_samples;
  }
  std::array<double, k_samples> sorted{};
  const auto end = std::copy(history.seconds.begin(), history.seconds.end(), sorted.begin());
  std::sort(sorted.begin(), end);
  const auto quantile = [&](double q) {
    const auto rank = q * static_cast<double>(history.seconds.size() - 1);
    return from_seconds(sorted[static_cast<std::size_t>(std::lround(rank))]);
  };
  LeadTime& lead = history.lead;
  lead.samples = static_cast<int>(history.seconds.size());
  lead.p50 = quantile(0.5);
  // A few samples say little about the tail.
  lead.p90 = lead.samples < 10 ? std::max(quantile(0.9), prior_p90(lead.p50)) : quantile(0.9);
}

}  // namespace navtalk
