// The threads that call providers: a lane for each provider and kind of call, so that a delete or a
// wake never waits for creates, nor one provider for another. A lane gets more threads while all of its
// calls are slow, so that calls which hang do not hold up the others of their kind. A call that takes
// longer than its deadline is asked to stop; its outcome is not known then. Thread-safe.
//
//   start(row) ──► the lane of the row's source and of its intent's operation ──► work(row, stop)
//   attend()   ──► more threads for slow lanes, and a stop request to every call past its deadline
#pragma once

#include <array>
#include <chrono>
#include <map>
#include <stop_token>
#include <utility>
#include <vector>

#include "core/base/guarded.h"
#include "scheduler/provision/executor/row_workers.h"

namespace navtalk {

struct CallLanesOptions {
  std::vector<Source> sources;
  std::size_t threads = 8;  // of each lane; a thread starts when a call needs it
  // So many more, as often as all calls of a lane have taken this long while others wait.
  Duration slow = std::chrono::seconds(2);
  std::size_t most_threads = 64;
  // By Operation, from when a thread begins the work: the whole of it, with repeats, waits and the
  // list that confirms a delete. A little more than what one hung call to Runpod takes to fail by
  // itself (runpod/api/api.h), since that says more.
  std::array<Duration, 5> deadline = {Duration{}, std::chrono::seconds(150),
                                      std::chrono::seconds(150), std::chrono::seconds(90),
                                      std::chrono::seconds(90)};
};

class CallLanes {
 public:
  // The work throws nothing, and ends soon after a stop request.
  CallLanes(CallLanesOptions options, RowWorkers::Work work);
  // Asks all calls to stop, and waits for them.
  ~CallLanes();
  CallLanes(const CallLanes&) = delete;
  CallLanes& operator=(const CallLanes&) = delete;

  // False when there is no such lane, or its queue is full. The row must not be under way.
  bool start(const Gpu& row);
  // In any lane: one row is never in two calls at once.
  bool under_way(const GpuId& id) const;
  // True once nothing is under way; false after that time, or on a stop request.
  bool wait_idle(Duration at_most, const std::stop_token& stop);
  // To be called every second.
  void attend();

 private:
  using Clock = std::chrono::steady_clock;
  struct Call {
    Gpu row;
    Clock::time_point begun, until;
    std::stop_source stop;
  };

  void widen_slow(Clock::time_point now);
  void end_late(Clock::time_point now);
  void run(const Gpu& row, const std::stop_token& ending);

  CallLanesOptions options_;
  RowWorkers::Work work_;
  Guarded<std::map<GpuId, Call>> calls_{};                      // those that a thread works on
  std::map<std::pair<Source, Operation>, RowWorkers> lanes_{};  // last: their threads use the rest
};

}  // namespace navtalk
