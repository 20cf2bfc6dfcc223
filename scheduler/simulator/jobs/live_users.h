// The users of the simulated lanes: they come as a trace says, wait in line for a slot, and stay for the time that the
// trace says. Event by event, no threads.
#pragma once

#include <functional>
#include <queue>
#include <vector>

#include "scheduler/simulator/trace/trace.h"

namespace navtalk {

class LiveUsers {
 public:
  // `sessions` outlives it; its times count from `from`.
  LiveUsers(const Trace& sessions, TimePoint from)
      : sessions_(sessions), from_(from), waits_(sessions.size()) {}

  // When the next one comes or leaves; TimePoint::max() if none does.
  TimePoint next() const;
  // Those whose time is over by `now` leave. How many slots they had.
  int leave(TimePoint now);
  // Those who come by `now` stand at the end of the line.
  void arrive(TimePoint now);
  // The head of the line gets one of `free` slots, and so on. How many slots were taken.
  int serve(int free, TimePoint now);

  std::size_t waiting() const { return arrived_ - served_; }
  // Has everybody been served?
  bool over() const { return served_ == sessions_.size(); }
  // Of each session, in the order of the trace; zero of those who have not been served.
  const std::vector<Duration>& waits() const { return waits_; }

 private:
  TimePoint arrival(std::size_t session) const { return from_ + sessions_[session].arrival; }

  const Trace& sessions_;
  TimePoint from_;
  std::size_t arrived_ = 0, served_ = 0;  // between them they wait
  std::priority_queue<TimePoint, std::vector<TimePoint>, std::greater<>> ends_{};
  std::vector<Duration> waits_;
};

}  // namespace navtalk
