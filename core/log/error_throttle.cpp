#include "core/log/error_throttle.h"

#include <algorithm>

#include "core/log/log.h"

namespace navtalk {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::minutes k_every(1);
// More texts than that are told with the minute.
constexpr std::size_t k_texts = 8;

}  // namespace

Outage::Notice Outage::notice(Notice::Kind kind, const std::string& error, Time now) const {
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

std::optional<Outage::Notice> Outage::failed(const std::string& part, const std::string& error,
                                             Time now) {
  if (times_++ == 0) began_ = now;
  last_ = now;
  parts_[part] = true;
  const bool news = told_.size() < k_texts && told_.insert(error).second;
  if (!news && now - told_at_ < k_every) return std::nullopt;
  const bool first = times_ == 1;
  told_at_ = now;
  return notice(first ? Notice::Kind::fails : Notice::Kind::still_fails, error, now);
}

std::optional<Outage::Notice> Outage::well(const std::string& part, Time now) {
  if (times_ == 0) return std::nullopt;
  const auto found = parts_.find(part);
  if (found != parts_.end()) found->second = false;
  const auto fails = [](const auto& one) { return one.second; };
  if (now - last_ < quiet_ || std::any_of(parts_.begin(), parts_.end(), fails)) return std::nullopt;
  const Notice over = notice(Notice::Kind::works_again, "", now);
  *this = Outage(quiet_);
  return over;
}

OutageLog::OutageLog(std::string what, std::chrono::seconds quiet)
    : what_(std::move(what)), outage_(Outage(quiet)) {}

void OutageLog::failed(const std::string& part, const std::string& error) {
  tell(outage_.with([&](Outage& one) { return one.failed(part, error, steady_clock::now()); }));
}

void OutageLog::well(const std::string& part) {
  tell(outage_.with([&](Outage& one) { return one.well(part, steady_clock::now()); }));
}

// The end is told as loudly as the beginning, for who heard the one wants to hear the other.
void OutageLog::tell(const std::optional<Outage::Notice>& notice) const {
  using Kind = Outage::Notice::Kind;
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
