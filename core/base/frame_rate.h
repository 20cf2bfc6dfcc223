// Frames a second as an exact fraction, so that 30000/1001 does not drift and equal rates compare
// equal.
#pragma once

#include <chrono>
#include <compare>
#include <concepts>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/check.h"

namespace navtalk {

// In lowest terms. A rate of zero or less can be held, so that whoever takes a rate can refuse it
// with its own limits; the conversions need a positive one.
class FrameRate {
 public:
  constexpr FrameRate(std::integral auto whole) : num_(static_cast<int>(whole)) {}
  constexpr FrameRate(int num, int den) {
    NAVTALK_CHECK(den > 0);
    const int divisor = std::gcd(num, den);
    num_ = num / divisor;
    den_ = den / divisor;
  }

  constexpr int num() const { return num_; }
  constexpr int den() const { return den_; }
  constexpr double hz() const { return static_cast<double>(num_) / den_; }

  // How long `frames` last.
  constexpr double seconds(std::int64_t frames) const {
    return static_cast<double>(frames) * den_ / num_;
  }
  // When frame `frame` begins, frame 0 at 0, rounded up: the first nanosecond that shows it, so
  // that frame_at(time_of(n)) is n. Exact arithmetic, also before 0.
  std::chrono::nanoseconds time_of(std::int64_t frame) const;
  // The frame that is shown at `time`, rounded down. Exact arithmetic.
  std::int64_t frame_at(std::chrono::nanoseconds time) const;

  constexpr bool operator==(const FrameRate&) const = default;
  constexpr std::strong_ordering operator<=>(const FrameRate& other) const {
    return std::int64_t{num_} * other.den_ <=> std::int64_t{other.num_} * den_;
  }

 private:
  int num_ = 0, den_ = 1;
};

// "25", or "30000/1001" where the rate is not whole; parse_frame_rate() reads both back exactly.
std::string text(const FrameRate& rate);

// A positive rate: "25", "30000/1001", "12.5". A decimal number with two places or more that is a
// broadcast rate (24, 30, 48, 60 or 120 times 1000/1001) rounded to these places means that rate:
// "29.97" is 30000/1001, "23.98" and "23.976" are 24000/1001. nullopt for anything else.
std::optional<FrameRate> parse_frame_rate(std::string_view text);

// As JSON: a whole number, or the text where the rate is not whole. Readers that know whole rates
// only refuse a text.
template <class Json>
void to_json(Json& json, const FrameRate& rate) {
  if (rate.den() == 1) {
    json = rate.num();
  } else {
    json = text(rate);
  }
}

}  // namespace navtalk
