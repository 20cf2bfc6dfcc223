// Which requests of all sessions make the next batch. Pure: the caller has the clock and the lock.
//
//   add() ──► one queue per session, by time
//                 take_late():  those whose deadline is over
//                 take_batch(): the first request of every session, the earliest deadline first; then the second
//                               ones, and so on. So a session that is behind never holds up another.
//                               Its sessions are held: nothing more of them is taken
//                 release():    until their pictures may be made beside those of that batch
//                 hold():       once more, for a batch that the device had no memory for
//   add_offline() ──► one queue per job
//                 take_offline(): in turn, as many as the caller has room for (offline_room.h)
//
// A batch closes when it is full, when its oldest request has waited for `wait`, or when no other session is expected to
// ask until then, by the time between its last two requests.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "gpu/engine/engine_backend.h"

namespace navtalk {

struct QueueLimits {
  std::size_t batch = 8;                 // requests at most
  std::chrono::microseconds wait{4000};  // for others, at most
  std::size_t per_session = 4;           // that wait
  std::size_t per_job = 64;
};

class RequestQueue {
 public:
  using Clock = PictureRequest::Clock;
  using Ticket = std::uint64_t;  // one for each request, in the order of add()
  struct Waiting {
    PictureRequest request{};
    Ticket ticket = 0;
    Clock::time_point since{};
  };

  explicit RequestQueue(QueueLimits limits);

  // nullopt, and nothing is taken: the session has as many that wait as it may.
  std::optional<Ticket> add(PictureRequest request, Clock::time_point now);
  // A batch that is closed at `now`; empty: none is yet. Its sessions are held.
  std::vector<Waiting> take_batch(Clock::time_point now);
  void release(std::uint64_t session) { held_.erase(session); }
  // A batch that is to be made again: its sessions, unless another one has any of them.
  bool hold(const std::set<std::uint64_t>& sessions);
  // Requests in a batch from now on, at most: at least 1.
  void limit_batch(std::size_t most) { limits_.batch = most; }
  std::vector<Waiting> take_late(Clock::time_point now);
  // The session is over, or was interrupted: what waits of it. One that is held stays so.
  std::vector<Waiting> take_session(std::uint64_t session);
  std::vector<Waiting> take_all();

  // Of jobs. nullopt: the job has as many that wait as it may.
  std::optional<Ticket> add_offline(PictureRequest request, Clock::time_point now);
  // At most so many, one of each job before a second one of any.
  std::vector<Waiting> take_offline(std::size_t most);
  // The job is over: what waits of it.
  std::vector<Waiting> take_job(std::uint64_t job);
  std::size_t offline() const { return offline_.size(); }
  // Some session has asked lately, and may ask again at any moment.
  bool has_sessions(Clock::time_point now) const;
  // When sessions that no batch holds ask until `until`, the earliest first: those that wait do so now.
  std::vector<Clock::time_point> expected(Clock::time_point now, Clock::time_point until) const;

  std::size_t size() const { return size_ + offline_.size(); }
  // When take_batch() gives something without another add() or release(); nullopt: nothing waits but of held sessions.
  std::optional<Clock::time_point> closes(Clock::time_point now) const;

 private:
  struct Session {
    std::deque<Waiting> waiting{};
    Clock::time_point asked{};                   // last
    std::chrono::microseconds interval{40'000};  // between the last two
  };

  bool expects_more(Clock::time_point now, Clock::time_point until) const;
  void forget_quiet(Clock::time_point now);
  bool may_be_taken(const auto& entry) const {
    return !entry.second.waiting.empty() && !held_.contains(entry.first);
  }

  QueueLimits limits_;
  std::map<std::uint64_t, Session> sessions_{};
  std::set<std::uint64_t> held_{};
  std::deque<Waiting> offline_{};  // in the order of their turns
  std::size_t size_ = 0;           // of the sessions
  Ticket last_ = 0;
};

}  // namespace navtalk
