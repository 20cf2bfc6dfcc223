#include "gpu/engine/request_queue.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "core/base/check.h"

namespace navtalk {
namespace {

using namespace std::chrono_literals;

// A session that is later than this has stopped asking.
constexpr auto k_overdue = 20ms;
constexpr std::chrono::microseconds k_least_interval = 20ms, k_largest_interval = 100ms;
// A session that has been quiet for so long is forgotten.
constexpr auto k_remembered = 10s;

}  // namespace

RequestQueue::RequestQueue(QueueLimits limits) : limits_(limits) {
  NAVTALK_CHECK(limits.batch > 0 && limits.per_session > 0 && limits.per_job > 0);
}

std::optional<RequestQueue::Ticket> RequestQueue::add(PictureRequest request,
                                                      Clock::time_point now) {
  const auto [place, is_new] = sessions_.try_emplace(request.session);
  Session& session = place->second;
  if (!is_new) {
    session.interval =
        std::clamp(std::chrono::duration_cast<std::chrono::microseconds>(now - session.asked),
                   k_least_interval, k_largest_interval);
  }
  session.asked = now;
  if (session.waiting.size() >= limits_.per_session) return std::nullopt;
  session.waiting.push_back({.request = std::move(request), .ticket = ++last_, .since = now});
  ++size_;
  return last_;
}

bool RequestQueue::expects_more(Clock::time_point now, Clock::time_point until) const {
  return std::ranges::any_of(sessions_, [now, until](const auto& entry) {
    const Session& session = entry.second;
    const Clock::time_point next = session.asked + session.interval;
    return session.waiting.empty() && next <= until && now - next < k_overdue;
  });
}

std::optional<RequestQueue::Clock::time_point> RequestQueue::closes(Clock::time_point now) const {
  std::size_t ready = 0;
  Clock::time_point oldest = Clock::time_point::max();
  for (const auto& entry : sessions_) {
    if (!may_be_taken(entry)) continue;
    ready += entry.second.waiting.size();
    oldest = std::min(oldest, entry.second.waiting.front().since);
  }
  if (ready == 0) return std::nullopt;
  if (ready >= limits_.batch) return now;
  const Clock::time_point until = oldest + limits_.wait;
  return expects_more(now, until) ? until : now;
}

std::vector<RequestQueue::Waiting> RequestQueue::take_batch(Clock::time_point now) {
  const std::optional<Clock::time_point> closing = closes(now);
  if (!closing || *closing > now) return {};
  using Choice = std::tuple<std::size_t, Clock::time_point, Ticket, Session*>;  // rank, deadline
  std::vector<Choice> choices;
  for (auto& entry : sessions_) {
    if (!may_be_taken(entry)) continue;
    for (std::size_t rank = 0; rank < entry.second.waiting.size(); ++rank) {
      const Waiting& one = entry.second.waiting[rank];
      choices.emplace_back(rank, one.request.deadline, one.ticket, &entry.second);
    }
  }
  std::ranges::sort(choices);
  choices.resize(std::min(choices.size(), limits_.batch));
  std::vector<Waiting> batch;
  for (const auto& [rank, deadline, ticket, session] : choices) {  // always the session's first
    held_.insert(session->waiting.front().request.session);
    batch.push_back(std::move(session->waiting.front()));
    session->waiting.pop_front();
  }
  size_ -= batch.size();
  forget_quiet(now);
  return batch;
}

bool RequestQueue::hold(const std::set<std::uint64_t>& sessions) {
  if (std::ranges::any_of(sessions, [this](auto number) { return held_.contains(number); }))
    return false;
  held_.insert(sessions.begin(), sessions.end());
  return true;
}

std::vector<RequestQueue::Waiting> RequestQueue::take_late(Clock::time_point now) {
  std::vector<Waiting> late;
  for (auto& [number, session] : sessions_) {
    std::deque<Waiting> kept;
    for (Waiting& one : session.waiting) {
      const bool over = one.request.deadline < now;
      over ? late.push_back(std::move(one)) : kept.push_back(std::move(one));
    }
    session.waiting = std::move(kept);
  }
  size_ -= late.size();
  return late;
}

std::vector<RequestQueue::Waiting> RequestQueue::take_session(std::uint64_t number) {
  const auto found = sessions_.find(number);
  if (found == sessions_.end()) return {};
  std::deque<Waiting>& waiting = found->second.waiting;
  std::vector<Waiting> taken(std::move_iterator(waiting.begin()),
                             std::move_iterator(waiting.end()));
  size_ -= taken.size();
  sessions_.erase(found);
  return taken;
}

std::vector<RequestQueue::Waiting> RequestQueue::take_all() {
  std::vector<Waiting> all;
  for (auto& [number, session] : sessions_) {
    std::ranges::move(session.waiting, std::back_inserter(all));
  }
  std::ranges::move(offline_, std::back_inserter(all));
  sessions_.clear();
  offline_.clear();
  size_ = 0;
  return all;
}

std::optional<RequestQueue::Ticket> RequestQueue::add_offline(PictureRequest request,
                                                              Clock::time_point now) {
  const auto of_job = [job = request.session](const Waiting& one) {
    return one.request.session == job;
  };
  if (std::cmp_greater_equal(std::ranges::count_if(offline_, of_job), limits_.per_job))
    return std::nullopt;
  offline_.push_back({.request = std::move(request), .ticket = ++last_, .since = now});
  return last_;
}

std::vector<RequestQueue::Waiting> RequestQueue::take_offline(std::size_t most) {
  std::vector<Waiting> taken;
  std::set<std::uint64_t> had;
  while (taken.size() < most && !offline_.empty()) {
    const auto next = std::ranges::find_if(
        offline_, [&had](const Waiting& one) { return !had.contains(one.request.session); });
    if (next == offline_.end()) {
      had.clear();
      continue;
    }
    had.insert(next->request.session);
    taken.push_back(std::move(*next));
    offline_.erase(next);
  }
  // Whoever had none of this batch comes first in the next one.
  // (Not std::ranges: clang 14, which builds the fuzz targets, cannot read libstdc++'s subranges.)
  std::stable_partition(offline_.begin(), offline_.end(),
                        [&had](const Waiting& one) { return !had.contains(one.request.session); });
  return taken;
}

std::vector<RequestQueue::Waiting> RequestQueue::take_job(std::uint64_t job) {
  std::vector<Waiting> taken;
  std::deque<Waiting> kept;
  for (Waiting& one : offline_)
    one.request.session == job ? taken.push_back(std::move(one)) : kept.push_back(std::move(one));
  offline_ = std::move(kept);
  return taken;
}

bool RequestQueue::has_sessions(Clock::time_point now) const {
  return std::ranges::any_of(sessions_, [now](const auto& entry) {
    return !entry.second.waiting.empty() || now - entry.second.asked <= k_remembered;
  });
}

std::vector<RequestQueue::Clock::time_point> RequestQueue::expected(Clock::time_point now,
                                                                    Clock::time_point until) const {
  std::vector<Clock::time_point> all;
  for (const auto& [number, session] : sessions_) {
    all.insert(all.end(), session.waiting.size(), now);
    Clock::time_point next = session.asked + session.interval;
    if (now - next >= k_overdue) continue;
    for (; next <= until; next += session.interval) all.push_back(std::max(next, now));
  }
  std::ranges::sort(all);
  return all;
}

void RequestQueue::forget_quiet(Clock::time_point now) {
  std::erase_if(sessions_, [now](const auto& entry) {
    return entry.second.waiting.empty() && now - entry.second.asked > k_remembered;
  });
}

}  // namespace navtalk
