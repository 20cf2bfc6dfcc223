#include "scheduler/forecast/headroom.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/text/number.h"
#include "scheduler/forecast/arrivals.h"
#include "scheduler/forecast/normal.h"

namespace navtalk {
namespace {

constexpr std::array<double, Headroom::k_shapes> k_shape = {0, 0.5, 1};
constexpr double k_first_step = 0.25, k_step_ratio = 1.2;  // up to about 1,500 slots
constexpr double k_memory_s = 30 * 24 * 3600;
constexpr double k_least_tail_users = 100;  // fewer say nothing about a tail
constexpr double k_least_beyond = 8;        // that a quantile has to rest on
constexpr double k_bursts_believed = 20;
constexpr double k_burst = 2.5;                                  // deviations
constexpr Duration k_between_bursts = std::chrono::minutes(10);  // nearer ones are one
constexpr Duration k_gap = std::chrono::minutes(5);
// A GPU that takes the horizon (the 90th percentile) at worst takes 0.6 of it on the average.
constexpr double k_lag = 0.6;

double sized(double deviation, std::size_t shape) {
  return shape == 0 ? 1 : shape == 1 ? std::sqrt(deviation) : deviation;
}

std::size_t step_of(double r) {
  if (r <= k_first_step) return 0;
  const double step = std::log(r / k_first_step) / std::log(k_step_ratio);
  return std::min(Headroom::k_steps - 1, static_cast<std::size_t>(step));
}

// The r that so many users were beyond, between steps in proportion.
double passed_by(const std::array<double, Headroom::k_steps>& beyond, double users) {
  for (std::size_t step = beyond.size(); step-- > 0; users -= beyond[step]) {
    if (beyond[step] > users) {
      const double part = 1 - users / beyond[step];
      return k_first_step * std::pow(k_step_ratio, static_cast<double>(step) + part);
    }
  }
  return k_first_step;
}

// The newest forecast that is as old as the lag; nullptr: none is.
const Outlook* due(const Headroom& headroom, TimePoint now) {
  for (std::size_t back = 0; back < Headroom::k_outlooks; ++back) {
    const std::size_t i = (headroom.newest + Headroom::k_outlooks - back) % Headroom::k_outlooks;
    const Headroom::Made& made = headroom.made.at(i);
    if (made.outlook.deviation <= 0) return nullptr;
    const double age_s = in_seconds(now - made.at);
    if (age_s >= k_lag * made.outlook.horizon_s) return &made.outlook;
  }
  return nullptr;
}

void decay(Headroom& headroom, double passed_s) {
  const double kept = std::exp(-passed_s / k_memory_s);
  for (auto& steps : headroom.beyond) {
    for (double& users : steps) users *= kept;
  }
  for (double& size : headroom.sizes) size *= kept;
  headroom.users *= kept;
  headroom.bursts *= kept;
}

// Of the arrivals between two samples the j-th found about that part of the change.
void score(Headroom& headroom, const Outlook& expected, int arrived, int busy, TimePoint now) {
  for (int j = 1; j <= arrived; ++j) {
    const double needed = headroom.busy + (busy - headroom.busy) * static_cast<double>(j) / arrived;
    const double surplus = needed - expected.mean;
    for (std::size_t shape = 0; shape < Headroom::k_shapes; ++shape) {
      headroom.beyond.at(shape).at(step_of(surplus / sized(expected.deviation, shape))) += 1;
    }
    if (surplus > k_burst * expected.deviation) {
      if (now - headroom.burst_at > k_between_bursts) headroom.bursts += 1;
      headroom.burst_at = now;
    }
  }
  headroom.users += arrived;
}

}  // namespace

void Headroom::observe(TimePoint now, const HeadroomSample& sample) {
  const Duration passed = now - at;
  if (passed <= Duration{}) return;
  const double passed_s = in_seconds(passed), fast_s = in_seconds(k_fast_memory);
  const Outlook* expected = passed <= k_gap ? due(*this, now) : nullptr;
  if (expected != nullptr) {
    // What the fast average rose by beyond its decay; the arrivals came halfway on average.
    const double rose = sample.fast_per_s - fast_per_s * std::exp(-passed_s / fast_s);
    const double arrived = rose * fast_s * std::exp(passed_s / fast_s / 2);
    score(*this, *expected, static_cast<int>(std::lround(std::clamp(arrived, 0.0, 1e4))),
          sample.busy, now);
  }
  if (passed <= k_gap) {
    decay(*this, passed_s);
    for (std::size_t shape = 0; shape < k_shapes; ++shape) {
      sizes.at(shape) += passed_s * sized(sample.outlook.deviation, shape);
    }
  }
  at = now;
  busy = sample.busy;
  fast_per_s = sample.fast_per_s;
  // The ring reaches back over the lag, whatever the horizon.
  const double apart_s = k_lag * sample.outlook.horizon_s / (k_outlooks - 4);
  if (in_seconds(now - made.at(newest).at) < apart_s) return;
  newest = (newest + 1) % k_outlooks;
  made.at(newest) = {now, sample.outlook};
}

Headroom::Learned Headroom::learned(double deviation, double wait_probability) const {
  if (users < k_least_tail_users) return {};
  // Beyond what was observed the tail is normal.
  const double share = std::max(wait_probability, k_least_beyond / users);
  const double further = share > wait_probability
                             ? normal_quantile(1 - wait_probability) / normal_quantile(1 - share)
                             : 1;
  Learned best{.trust = bursts / (bursts + k_bursts_believed)};
  double least = std::numeric_limits<double>::max();
  for (std::size_t shape = 0; shape < k_shapes; ++shape) {
    const double factor = passed_by(beyond.at(shape), share * users) * further;
    const double cost = factor * sizes.at(shape);
    if (cost >= least) continue;
    least = cost;
    best.deviations = factor * sized(deviation, shape) / deviation;
    best.shape = k_shape.at(shape);
  }
  return best;
}

namespace {

// Every number of it, in the order of the text.
template <typename Value, typename Visitor>
void each_number(Value& headroom, const Visitor& visit) {
  for (auto& steps : headroom.beyond) {
    for (auto& users : steps) visit(users);
  }
  for (auto& size : headroom.sizes) visit(size);
  visit(headroom.users);
  visit(headroom.bursts);
  visit(headroom.burst_at);
  visit(headroom.at);
  visit(headroom.busy);
  visit(headroom.fast_per_s);
  for (auto& made : headroom.made) {
    visit(made.at);
    visit(made.outlook.horizon_s);
    visit(made.outlook.mean);
    visit(made.outlook.deviation);
  }
  visit(headroom.newest);
  visit(headroom.used.deviations);
  visit(headroom.used.trust);
  visit(headroom.used.shape);
}

constexpr const char* k_unused = " 0 0 1";  // Learned{}

struct Writer {
  std::string& text;
  // More digits than a tick's decay changes.
  void operator()(double number) const { text += fmt::format(" {:.9g}", number); }
  void operator()(int number) const { text += fmt::format(" {}", number); }
  void operator()(std::size_t number) const { text += fmt::format(" {}", number); }
  void operator()(TimePoint at) const { text += fmt::format(" {}", at.time_since_epoch().count()); }
};

struct Reader {
  std::string_view& text;
  bool& fits;

  template <typename Number>
  void operator()(Number& number) const {
    fits = fits && text.starts_with(' ');
    if (!fits) return;
    text.remove_prefix(1);
    const auto taken = take_number<Number>(text);
    fits = taken.has_value();
    number = taken.value_or(Number{});
  }
  void operator()(double& number) const {
    this->operator()<double>(number);
    fits = fits && number > -1e12 && number < 1e12;
  }
  void operator()(TimePoint& at) const {
    std::int64_t ticks = 0;
    this->operator()<std::int64_t>(ticks);
    at = TimePoint(Duration(ticks));
  }
};

}  // namespace

std::string as_text(const Headroom& headroom) {
  std::string text = "2";
  each_number(headroom, Writer{text});
  return text;
}

std::optional<Headroom> parse_headroom(std::string_view text) {
  const std::string older =
      text.starts_with('1') ? "2" + std::string(text.substr(1)) + k_unused : "";
  if (!older.empty()) text = older;
  if (!text.starts_with('2')) return std::nullopt;
  text.remove_prefix(1);
  Headroom headroom;
  bool fits = true;
  each_number(headroom, Reader{text, fits});
  if (!fits || !text.empty() || headroom.newest >= Headroom::k_outlooks) return std::nullopt;
  return headroom;
}

}  // namespace navtalk
