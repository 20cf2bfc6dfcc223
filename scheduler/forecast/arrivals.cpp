#include "scheduler/forecast/arrivals.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace navtalk {
namespace {

constexpr std::size_t k_day_minutes = 24 * 60;
constexpr std::size_t k_least_minutes = 60;  // the dispersion is not known before
constexpr double k_most_dispersion = 8;
constexpr Duration k_recent_slot = std::chrono::seconds(6);
constexpr Duration k_minute = std::chrono::minutes(1);

std::int64_t slot_of(TimePoint at) { return at.time_since_epoch() / k_recent_slot; }

}  // namespace

Arrivals::Arrivals(TimePoint now)
    : begin_(now),
      now_(now),
      minutes_(k_day_minutes),
      minute_ends_(now + k_minute),
      recent_slot_(slot_of(now)) {}

void Arrivals::begin_at(TimePoint first) {
  begin_ = now_ = first;
  minute_ends_ = first + k_minute;
  recent_slot_ = slot_of(first);
}

void Arrivals::add(TimePoint at, std::int64_t count) {
  advance(at);
  const auto n = static_cast<double>(count);
  fast_ += n / in_seconds(k_fast_memory);
  slow_ += n / in_seconds(k_slow_memory);
  minutes_[minute_] += static_cast<std::uint32_t>(count);
  recent_[static_cast<std::size_t>(recent_slot_) % recent_.size()] += static_cast<int>(count);
}

void Arrivals::advance(TimePoint now) {
  if (now <= now_) return;
  const double passed_s = in_seconds(now - now_);
  fast_ *= std::exp(-passed_s / in_seconds(k_fast_memory));
  recurring_ *= std::exp(-passed_s / in_seconds(k_fast_memory));
  slow_ *= std::exp(-passed_s / in_seconds(k_slow_memory));
  now_ = now;
  for (std::size_t i = 0; now >= minute_ends_; ++i) {
    if (i > k_day_minutes) {  // everything known is out of date
      minute_ends_ = now + k_minute;
      break;
    }
    close_minute();
  }
  const std::int64_t slot = slot_of(now);
  const auto slots = static_cast<std::int64_t>(recent_.size());
  for (std::int64_t i = std::max(recent_slot_ + 1, slot - slots + 1); i <= slot; ++i) {
    recent_[static_cast<std::size_t>(i % slots)] = 0;
  }
  recent_slot_ = slot;
}

void Arrivals::close_minute() {
  const auto squared = [](double count) { return count * count; };
  const auto minute = [&](std::size_t i) {
    return double{static_cast<double>(minutes_[i % k_day_minutes])};
  };
  sum_ += minute(minute_);
  if (minutes_known_ > 0)
    squared_changes_ += squared(minute(minute_) - minute(minute_ + k_day_minutes - 1));
  minute_ = (minute_ + 1) % k_day_minutes;
  if (minutes_known_ < k_day_minutes - 1) {
    ++minutes_known_;
  } else {  // the oldest minute makes room for the one that begins
    sum_ -= minute(minute_);
    squared_changes_ -= squared(minute(minute_) - minute(minute_ + 1));
  }
  minutes_[minute_] = 0;
  const double fast_s = in_seconds(k_fast_memory), ago_s = in_seconds(now_ - minute_ends_);
  recurring_ += recurring_arrivals(ring(), 0).users / fast_s * std::exp(-ago_s / fast_s);
  minute_ends_ += k_minute;
}

double Arrivals::day_per_s() const {
  const double known_s =
      std::clamp(in_seconds(now_ - begin_), 60.0, 60.0 * static_cast<double>(k_day_minutes));
  return (sum_ + minutes_[minute_]) / known_s;
}

int Arrivals::last_minute() const { return std::accumulate(recent_.begin(), recent_.end(), 0); }

// An EWMA of memory T over Poisson arrivals of rate r has the variance r / 2T: what the fast one
// shows within one and a half deviations of the slow one is chance, wider by the dispersion. What
// it shows beyond is a burst, and only a part of it yet (half after 0.7 T); so twice that is
// believed. A burst that recurs is over within its minute.
double Arrivals::rate_per_s() const {
  const double calm = std::max(slow_, day_per_s() / 10);
  const double chance = 1.5 * std::sqrt(dispersion() * calm / (2 * in_seconds(k_fast_memory)));
  return slow_ + 2 * std::max(0.0, fast_ - recurring_ - slow_ - chance);
}

double Arrivals::dispersion() const {
  if (minutes_known_ < k_least_minutes || sum_ <= 0) return 1;
  return std::clamp(squared_changes_ / (2 * sum_), 1.0, k_most_dispersion);
}

MinuteRing Arrivals::ring() const {
  const double mean = minutes_known_ > 0 ? sum_ / static_cast<double>(minutes_known_) : 0;
  return {.counts = minutes_, .open = minute_, .closed = minutes_known_, .mean = mean};
}

MinutesAhead Arrivals::ahead() const {
  const MinuteRing known = ring();
  MinutesAhead ahead;
  for (std::size_t minute = 0; minute < ahead.size(); ++minute) {
    ahead[minute] = recurring_arrivals(known, minute);
  }
  // Of the open minute, only those who have not arrived yet.
  RecurringArrivals& open = ahead.front();
  if (open.users > 0) {
    const double left = std::max(0.0, 1 - minutes_[minute_] / open.users);
    open = {.users = open.users * left, .variance = open.variance * left * left};
  }
  return ahead;
}

}  // namespace navtalk
