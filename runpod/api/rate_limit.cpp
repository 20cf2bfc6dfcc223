#include "runpod/api/rate_limit.h"

#include <algorithm>

#include "core/text/number.h"
#include "core/text/trim.h"

namespace navtalk::runpod {
namespace {

constexpr long long k_longest_s = 86'400;  // no window is longer than a day

std::optional<long long> whole(std::string_view text) {
  const auto value = parse_number<long long>(text);
  return value && *value >= 0 ? value : std::nullopt;
}

std::string_view take_until(std::string_view& rest, char mark) {
  const std::size_t end = std::min(rest.find(mark), rest.size());
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return trim(part);
}

std::optional<RateWindow> parse_window(std::string_view member) {
  std::string_view name = take_until(member, ';');
  if (name.size() < 2 || name.front() != '"' || name.back() != '"') return std::nullopt;
  std::optional<long long> remaining, reset;
  while (!member.empty()) {
    const std::string_view parameter = take_until(member, ';');
    if (parameter.starts_with("r=")) remaining = whole(parameter.substr(2));
    if (parameter.starts_with("t=")) reset = whole(parameter.substr(2));
  }
  if (!remaining || !reset) return std::nullopt;
  return RateWindow{std::string(name.substr(1, name.size() - 2)), *remaining,
                    std::chrono::seconds(std::min(*reset, k_longest_s))};
}

}  // namespace

std::vector<RateWindow> parse_rate_limit(std::string_view header) {
  std::vector<RateWindow> windows;
  while (!header.empty()) {
    if (const auto window = parse_window(take_until(header, ','))) windows.push_back(*window);
  }
  return windows;
}

std::optional<std::chrono::seconds> parse_retry_after(std::string_view header) {
  const std::optional<long long> seconds = whole(trim(header));
  if (!seconds) return std::nullopt;
  return std::chrono::seconds(std::min(*seconds, k_longest_s));
}

void RateLimit::read(std::string_view rate_limit_header, Clock::time_point now) {
  for (const RateWindow& window : parse_rate_limit(rate_limit_header)) {
    if (window.remaining == 0) until_ = std::max(until_, now + window.reset);
  }
}

void RateLimit::refused(std::chrono::milliseconds retry_after, Clock::time_point now) {
  until_ = std::max(until_, now + retry_after);
}

std::chrono::milliseconds RateLimit::wait(Clock::time_point now) const {
  if (now >= until_) return std::chrono::milliseconds(0);
  return std::chrono::ceil<std::chrono::milliseconds>(until_ - now);
}

}  // namespace navtalk::runpod
