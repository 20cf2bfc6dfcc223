#include "scheduler/forecast/demand.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace navtalk {
namespace {

constexpr std::size_t k_day_minutes = 24 * 60;
constexpr std::size_t k_lead_samples = 64;
constexpr std::size_t k_least_minutes = 60;  // before them the burstiness is not known
constexpr double k_most_burstiness = 8;
constexpr double k_attempts_remembered = 50;
constexpr double k_sessions_believed = 5;  // the prior weighs as much as so many sessions
constexpr double k_sessions_remembered = 2000;
constexpr Duration k_same_failure = std::chrono::seconds(5);  // several at once are one
constexpr Duration k_recent_slot = std::chrono::seconds(6);
constexpr std::size_t k_buckets_that_grow = 30;  // five minutes
constexpr double k_prior_spread = 1.6;           // p90 / p50

Duration slow(Duration median) { return from_seconds(in_seconds(median) * k_prior_spread); }

}  // namespace

DemandEstimator::DemandEstimator(TimePoint now, const DemandOptions& options)
    : options_(options),
      start_(now),
      begin_(now),
      now_(now),
      minutes_(k_day_minutes),
      minute_ends_(now + std::chrono::minutes(1)),
      recent_slot_(now.time_since_epoch() / k_recent_slot) {
  for (std::size_t i = 0; i < k_sources; ++i) {
    create_[i].learnt = {.p50 = options.create[i], .p90 = slow(options.create[i])};
    wake_[i].learnt = {.p50 = options.wake[i], .p90 = slow(options.wake[i])};
  }
}

void DemandEstimator::arrived(TimePoint at, std::int64_t count) {
  advance(at);
  const auto n = static_cast<double>(count);
  fast_ += n / in_seconds(options_.fast);
  slow_ += n / in_seconds(options_.slow);
  minutes_[minute_] += static_cast<std::uint32_t>(count);
  recent_[static_cast<std::size_t>(recent_slot_) % recent_.size()] += static_cast<int>(count);
}

void DemandEstimator::ended(TimePoint at, std::int64_t count, double seconds) {
  advance(at);
  const double n = static_cast<double>(count);
  const double kept =
      ended_count_ > k_sessions_remembered ? std::max(0.0, 1 - n / ended_count_) : 1;
  ended_count_ = ended_count_ * kept + n;
  ended_seconds_ = ended_seconds_ * kept + seconds;
}

void DemandEstimator::attempted(const Attempt& attempt) {
  const bool known = attempt.operation == Operation::create || attempt.operation == Operation::wake;
  if (!known) return;
  Leads& leads = leads_of(attempt.source, attempt.operation);
  LeadTime& learnt = leads.learnt;
  using enum Attempt::Result;
  if (attempt.result == no_capacity) {  // says nothing about the success_rate of what is to be had
    ++learnt.no_capacity_in_row;
    learnt.last_failure = attempt.at;
    return;
  }
  const double kept = 1 - 1 / k_attempts_remembered;
  leads.tried = leads.tried * kept + 1;
  leads.ok *= kept;
  if (attempt.result == ok) {
    leads.ok += 1;
    learnt.failures_in_row = learnt.no_capacity_in_row = 0;
    remember(leads, attempt.took);
  } else {
    const bool another = attempt.at >= learnt.last_failure + k_same_failure;
    if (another || learnt.failures_in_row == 0) ++learnt.failures_in_row;
    learnt.last_failure = attempt.at;
  }
  // Two attempts that went well are believed beforehand.
  learnt.success_rate = (leads.ok + 2) / (leads.tried + 2);
}

void DemandEstimator::observe(std::span<const DemandBucket> buckets, TimePoint now) {
  for (const DemandBucket& bucket : buckets) {
    if (!seen_.empty() && bucket.start < seen_.front().start) continue;  // counted long ago
    auto before = std::find_if(seen_.rbegin(), seen_.rend(),
                               [&](const auto& seen) { return seen.start <= bucket.start; });
    DemandBucket counted{.start = bucket.start};
    if (before != seen_.rend() && before->start == bucket.start) counted = *before;
    count_difference(counted, bucket, std::min(now, bucket.start + k_demand_bucket));
    if (before != seen_.rend() && before->start == bucket.start) {
      *before = bucket;
    } else {
      seen_.insert(before.base(), bucket);
    }
  }
  // Gateways write into the newest buckets only.
  while (seen_.size() > k_buckets_that_grow) seen_.pop_front();
  advance(now);
}

void DemandEstimator::count_difference(const DemandBucket& counted, const DemandBucket& bucket,
                                       TimePoint at) {
  if (bucket.arrivals > counted.arrivals) arrived(at, bucket.arrivals - counted.arrivals);
  if (bucket.ended > counted.ended) {
    ended(at, bucket.ended - counted.ended, bucket.ended_seconds - counted.ended_seconds);
  }
}

void DemandEstimator::load(std::span<const DemandBucket> buckets, std::span<const Attempt> attempts,
                           TimePoint now) {
  if (!buckets.empty()) begin_at(std::min(now, buckets.front().start));
  observe(buckets, now);
  for (const Attempt& attempt : attempts) attempted(attempt);
  loaded_ = true;
}

Demand DemandEstimator::demand(TimePoint now) {
  advance(now);
  const double known_s =
      std::clamp(in_seconds(now_ - begin_), 60.0, 60.0 * static_cast<double>(k_day_minutes));
  const double day_per_s = (sum_ + minutes_[minute_]) / known_s;
  Demand demand{.fast_per_s = fast_,
                .slow_per_s = slow_,
                .rate_per_s = expected(day_per_s),
                .day_per_s = day_per_s,
                .last_minute = std::accumulate(recent_.begin(), recent_.end(), 0),
                .session_s = (ended_seconds_ + k_sessions_believed * in_seconds(options_.session)) /
                             (ended_count_ + k_sessions_believed),
                .burstiness = burstiness(),
                .clumping = clumping(),
                .history_ready = loaded_ || now_ - start_ >= options_.stable_window};
  for (std::size_t i = 0; i < k_sources; ++i) {
    demand.create[i] = create_[i].learnt;
    demand.wake[i] = wake_[i].learnt;
  }
  foretell(demand);
  return demand;
}

MinuteRing DemandEstimator::ring() const {
  const double mean = minutes_known_ > 0 ? sum_ / static_cast<double>(minutes_known_) : 0;
  return {.counts = minutes_, .open = minute_, .closed = minutes_known_, .mean = mean};
}

// Of the open minute, what has not come yet.
void DemandEstimator::foretell(Demand& demand) const {
  const MinuteRing known = ring();
  for (std::size_t minute = 0; minute < demand.ahead.size(); ++minute) {
    demand.ahead[minute] = foretold(known, minute);
  }
  demand.minute_left_s = in_seconds(minute_ends_ - now_);
  Foretold& open = demand.ahead.front();
  if (open.users <= 0) return;
  const double left = std::max(0.0, 1 - minutes_[minute_] / open.users);
  open = {.users = open.users * left, .variance = open.variance * left * left};
}

// An EWMA of memory T over Poisson arrivals of rate r has the variance r / 2T: what the fast one
// shows within one and a half deviations of the slow one is chance, wider where arrivals come in
// clumps. What it shows beyond is a rush, of which it has seen only a part yet: half after 0.7 T.
// So twice that is believed. A rush that was foretold is over within its minute.
double DemandEstimator::expected(double day_per_s) const {
  const double calm = std::max(slow_, day_per_s / 10);
  const double chance = 1.5 * std::sqrt(clumping() * calm / (2 * in_seconds(options_.fast)));
  return slow_ + 2 * std::max(0.0, fast_ - foretold_ - slow_ - chance);
}

double DemandEstimator::burstiness() const {
  if (minutes_known_ < k_least_minutes || sum_ <= 0) return 1;
  const auto n = static_cast<double>(minutes_known_);
  const double mean = sum_ / n, variance = squares_ / n - mean * mean;
  return std::clamp(variance / mean, 1.0, k_most_burstiness);
}

double DemandEstimator::clumping() const {
  if (minutes_known_ < k_least_minutes || sum_ <= 0) return 1;
  return std::clamp(changes_ / (2 * sum_), 1.0, k_most_burstiness);
}

// What came before `start_` is history: the clock goes back to it, once, while nothing is known.
void DemandEstimator::begin_at(TimePoint first) {
  begin_ = now_ = first;
  minute_ends_ = first + std::chrono::minutes(1);
  recent_slot_ = first.time_since_epoch() / k_recent_slot;
}

void DemandEstimator::advance(TimePoint now) {
  if (now <= now_) return;
  const double passed_s = in_seconds(now - now_);
  fast_ *= std::exp(-passed_s / in_seconds(options_.fast));
  foretold_ *= std::exp(-passed_s / in_seconds(options_.fast));
  slow_ *= std::exp(-passed_s / in_seconds(options_.slow));
  now_ = now;
  for (std::size_t i = 0; now >= minute_ends_; ++i) {
    if (i > k_day_minutes) {  // everything known is out of date
      minute_ends_ = now + std::chrono::minutes(1);
      break;
    }
    close_minute();
  }
  const std::int64_t slot = now.time_since_epoch() / k_recent_slot;
  const auto slots = static_cast<std::int64_t>(recent_.size());
  for (std::int64_t i = std::max(recent_slot_ + 1, slot - slots + 1); i <= slot; ++i) {
    recent_[static_cast<std::size_t>(i % slots)] = 0;
  }
  recent_slot_ = slot;
}

void DemandEstimator::close_minute() {
  const auto squared = [](double count) { return count * count; };
  const auto minute = [&](std::size_t i) {
    return double{static_cast<double>(minutes_[i % k_day_minutes])};
  };
  sum_ += minute(minute_);
  squares_ += squared(minute(minute_));
  if (minutes_known_ > 0)
    changes_ += squared(minute(minute_) - minute(minute_ + k_day_minutes - 1));
  minute_ = (minute_ + 1) % k_day_minutes;
  if (minutes_known_ < k_day_minutes - 1) {
    ++minutes_known_;
  } else {  // the oldest minute makes room for the one that begins
    sum_ -= minute(minute_);
    squares_ -= squared(minute(minute_));
    changes_ -= squared(minute(minute_) - minute(minute_ + 1));
  }
  minutes_[minute_] = 0;
  const double fast_s = in_seconds(options_.fast), ago_s = in_seconds(now_ - minute_ends_);
  foretold_ += foretold(ring(), 0).users / fast_s * std::exp(-ago_s / fast_s);
  minute_ends_ += std::chrono::minutes(1);
}

DemandEstimator::Leads& DemandEstimator::leads_of(Source source, Operation operation) {
  auto& all = operation == Operation::create ? create_ : wake_;
  return all.at(static_cast<std::size_t>(source));
}

void DemandEstimator::remember(Leads& leads, Duration took) {
  if (leads.seconds.size() < k_lead_samples) {
    leads.seconds.push_back(in_seconds(took));
  } else {
    leads.seconds[leads.next] = in_seconds(took);
    leads.next = (leads.next + 1) % k_lead_samples;
  }
  std::array<double, k_lead_samples> sorted{};
  const auto end = std::copy(leads.seconds.begin(), leads.seconds.end(), sorted.begin());
  std::sort(sorted.begin(), end);
  const auto quantile = [&](double q) {
    const auto rank = q * static_cast<double>(leads.seconds.size() - 1);
    return from_seconds(sorted[static_cast<std::size_t>(std::lround(rank))]);
  };
  LeadTime& learnt = leads.learnt;
  learnt.samples = static_cast<int>(leads.seconds.size());
  learnt.p50 = quantile(0.5);
  // A few samples say little of the slow ones.
  learnt.p90 = learnt.samples < 10 ? std::max(quantile(0.9), slow(learnt.p50)) : quantile(0.9);
}

}  // namespace navtalk
