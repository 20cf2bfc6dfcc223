#include "core/log/error_throttle.h"

#include <algorithm>

#include "core/log/log.h"

namespace navtalk {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::minutes k_every(1);
// Texts beyond these are reported with the minute's count.
constexpr std::size_t k_texts = 8;

}  // namespace

ErrorThrottle::Notice ErrorThrottle::notice(Notice::Kind kind, const std::string& error,
                                            Time now) const {
  Notice notice{.kind = kind,
                .error = error,
                .times = times_,
                .lasted = std::chrono::duration_cast<std::chrono::seconds>(now - began_)};
  for (const auto& [part, fails] : parts_) {
    if (!fails && kind != Notice::Kind::works_again) continue;
    notice.parts += (notice.parts.empty() ? "" : ", ") + part;
  }
  return notice;
}

std::optional<ErrorThrottle::Notice> ErrorThrottle::failed(const std::string& part,
                                                           const std::string& error, Time now) {
  if (times_++ == 0) began_ = now;
  last_ = now;
  parts_[part] = true;
  const bool news = told_.size() < k_texts && told_.insert(error).second;
  if (!news && now - told_at_ < k_every) return std::nullopt;
  const bool first = times_ == 1;
  told_at_ = now;
  return notice(first ? Notice::Kind::fails : Notice::Kind::still_fails, error, now);
}

std::optional<ErrorThrottle::Notice> ErrorThrottle::well(const std::string& part, Time now) {
  if (times_ == 0) return std::nullopt;
  const auto found = parts_.find(part);
  if (found != parts_.end()) found->second = false;
  const auto fails = [](const auto& one) { return one.second; };
  if (now - last_ < quiet_ || std::any_of(parts_.begin(), parts_.end(), fails)) return std::nullopt;
  const Notice over = notice(Notice::Kind::works_again, "", now);
  *this = ErrorThrottle(quiet_);
  return over;
}

ErrorThrottleLog::ErrorThrottleLog(std::string what, std::chrono::seconds quiet)
    : what_(std::move(what)), throttle_(ErrorThrottle(quiet)) {}

void ErrorThrottleLog::failed(const std::string& part, const std::string& error) {
  tell(throttle_.with(
      [&](ErrorThrottle& one) { return one.failed(part, error, steady_clock::now()); }));
}

void ErrorThrottleLog::well(const std::string& part) {
  tell(throttle_.with([&](ErrorThrottle& one) { return one.well(part, steady_clock::now()); }));
}

// The end is reported as loudly as the beginning: whoever saw the one looks for the other.
void ErrorThrottleLog::tell(const std::optional<ErrorThrottle::Notice>& notice) const {
  using Kind = ErrorThrottle::Notice::Kind;
  if (!notice) return;
  const std::string times = std::to_string(notice->times);
  const std::string seconds = std::to_string(notice->lasted.count());
  if (notice->kind == Kind::fails) {
    log::error(what_ + ": failed, and tries again",
               {{"part", notice->parts}, {"error", notice->error}});
  } else if (notice->kind == Kind::still_fails) {
    log::error(what_ + ": still failing", {{"part", notice->parts},
                                           {"error", notice->error},
                                           {"failures", times},
                                           {"for_s", seconds}});
  } else {
    log::warn(what_ + ": works again",
              {{"part", notice->parts}, {"failures", times}, {"after_s", seconds}});
  }
}

}  // namespace navtalk
