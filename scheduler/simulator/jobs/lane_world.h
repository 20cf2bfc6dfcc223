// The simulated lanes themselves: jobs, users, GPUs and the turns of the division, event by event. Private to
// simulate(). lane_world.cpp has the clock, the turns and the claims, lane_promises.cpp the promises,
// lane_yielding.cpp how slots come back.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <queue>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "scheduler/jobs/promises/finish_estimate.h"
#include "scheduler/jobs/shares/claim_choice.h"
#include "scheduler/jobs/shares/division.h"
#include "scheduler/jobs/shares/flood_headroom.h"
#include "scheduler/jobs/shares/job_pace.h"
#include "scheduler/jobs/shares/preemption.h"
#include "scheduler/pool/history.h"
#include "scheduler/simulator/jobs/job_simulator.h"
#include "scheduler/simulator/jobs/lane_fleet.h"
#include "scheduler/simulator/jobs/lane_slots.h"
#include "scheduler/simulator/jobs/live_users.h"

namespace navtalk {

inline constexpr TimePoint k_simulated_from{std::chrono::hours(24 * 365 * 30)};

// Videos are rendered in segments of this length.
inline constexpr VideoMinutes k_segment(std::chrono::seconds(10));

inline SlotUse use_of(const TenantLine& line) {
  return {.terms = line.terms,
          .running = line.running_jobs,
          .waiting = line.released_jobs,
          .history = line.history};
}

struct SimulatedJob {
  std::size_t tenant = 0;  // index of its line
  TimePoint submitted_at{}, released_at{}, finished_at{};
  TimePoint started_at{};           // first
  TimePoint claimed_at{};           // while it runs, else the epoch
  std::size_t claim = 0;            // the number of the last one
  int epoch = 0;                    // how often it gave its slot back
  bool yields = false;              // to a user
  VideoMinutes work{}, finished{};  // the latter in segments of earlier claims
  bool lent = false;
  // Of the shipped policy:
  bool promised = false, slipped = false;
  int changes = 0;
  TimePoint first_promise{}, promise{}, promise_changed_at{};
};

class LaneWorld {
 public:
  LaneWorld(const JobTrace& trace, JobPolicy policy, const JobSimulatorOptions& options);

  JobSimulatorResult run(const std::stop_token& stop);
  const LiveUsers& users() const { return users_; }

 private:
  // Of a job's rendering, or of its patience with a user.
  struct End {
    TimePoint at{};
    std::size_t job = 0;
    int epoch = 0;  // a job that gave its slot back meanwhile does not end then
    bool operator>(const End& other) const {
      return std::tie(at, job) > std::tie(other.at, other.job);
    }
  };

  TimePoint next_event(std::size_t arrived) const;
  void end_jobs();
  void serve_users();
  void advance(TimePoint to);
  void submit(std::size_t job);
  BatchCapacity capacity_of_jobs() const;
  void turn();
  void turn_fleet();
  // Of the GPUs that are always there.
  int left_by_users() const { return std::max(options_.gpus - slots_.live(), 0); }
  void release(std::size_t tenant, bool lent);
  void release_early();
  void lend();
  void promise(std::size_t job);
  void change_promises();
  void change_promise(std::size_t job, VideoMinutes ahead, std::size_t jobs_ahead);
  double assured(std::size_t tenant);
  LaneBacklog backlog(const SimulatedJob& job) const;
  bool done_early() const;
  std::optional<Duration> estimated(const SimulatedJob& job, VideoMinutes ahead,
                                    std::size_t jobs_ahead);
  void start_jobs();
  std::optional<std::size_t> next_tenant() const;
  void start(std::size_t job);
  void leave(std::size_t job);
  void finish(std::size_t job);
  void finish_promise(std::size_t job);
  // As the dispatcher of a gateway does it.
  void plan_preemptions();
  TimePoint gives_way_at(std::size_t job) const;
  void preempt(std::size_t job);
  void yield_to_users();
  void take_back();
  void give_slot_back(std::size_t job);
  void drop_old_ends();
  int segments_done(std::size_t job) const;                    // of this claim
  TimePoint segment_end(std::size_t job, int segments) const;  // of this claim
  Duration segment_time(std::size_t job) const;
  Duration render_time(std::size_t job) const;
  // What a GPU needs for a video-minute of that job.
  double minutes_each(std::size_t job) const;
  bool busy() const { return !ends_.empty() || waiting_ > 0; }
  JobSimulatorResult result() const;

  const JobTrace& trace_;
  JobPolicy policy_;
  const JobSimulatorOptions& options_;
  BatchCapacity capacity_{};
  FloodHeadroom headroom_{};
  JobPace pace_{};  // of which only the rate is learnt

  TimePoint now_{};
  std::vector<SimulatedJob> jobs_{};
  std::vector<TenantLine> lines_{};
  std::vector<std::deque<std::size_t>> queued_{}, released_{};  // by tenant
  std::set<std::pair<TimePoint, std::size_t>> due_{};    // promises of jobs that are not finished
  std::vector<std::pair<double, TimePoint>> assured_{};  // by tenant, with the turn
  TimePoint turned_at_{}, all_looked_at_{};
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_{};
  std::set<std::size_t> running_{};
  std::optional<std::pair<TimePoint, std::size_t>> gives_way_{};  // the next job that does
  LaneSlots slots_;
  LaneFleet fleet_;
  LiveUsers users_;
  std::priority_queue<End, std::vector<End>, std::greater<>> yields_{};
  std::optional<TimePoint> looks_at_users_{};  // while users wait
  std::size_t waiting_ = 0;                    // jobs that have no GPU
  std::size_t claimed_ = 0;
  VirtualTimes times_{};
  std::vector<std::string> claims_{};  // tenants in the order of claims
  double busy_s_ = 0, all_s_ = 0;      // of GPUs, the first until the last submission
  // By users, of the slots' time, until the first submission and until the last.
  Duration left_until_first_{}, left_until_last_{};
  TimePoint last_job_at_{};          // when it was done
  Duration slots_until_last_job_{};  // time of all slots until then
  double repeated_s_ = 0;            // of segments that were cut
  double lent_min_ = 0, all_min_ = 0;
  std::size_t preempted_ = 0, taken_back_ = 0;
  std::vector<Promise> known_{};  // promises with an outcome, oldest first
  double correction_ = 1;
};

}  // namespace navtalk
