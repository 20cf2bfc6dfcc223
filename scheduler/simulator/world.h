// The simulated pool itself: users, GPUs and their controller, event by event. Private to
// simulate(); one source file for each of the three, world.cpp for the clock.
#pragma once

#include <deque>
#include <utility>

#include "scheduler/scaling/decide.h"
#include "scheduler/simulator/cost.h"
#include "scheduler/simulator/event_queue.h"
#include "scheduler/simulator/simulator.h"
#include "scheduler/simulator/waits.h"

namespace navtalk {

// Where the simulated time begins.
inline constexpr TimePoint k_beginning{std::chrono::hours(24 * 365 * 30)};

// What the simulator knows about a GPU beside its row.
struct Machine {
  std::uint32_t number = 0;
  std::uint32_t generation = 0;  // grows with every start: its older events are stale
  bool paid = false;             // there is an instance
  bool known = true;             // its provider's id is recorded
  bool booted = false;           // would be ready if it were known
  std::vector<std::uint32_t> sessions{};
};

struct Visit {
  TimePoint arrived{};
  Duration left{};        // still to be served
  TimePoint served{};     // since
  std::uint32_t gpu = 0;  // its number
  std::uint32_t generation = 0;
  bool first = true;  // not interrupted yet
  std::int32_t promise = -1;
};

class World {
 public:
  World(const Trace& trace, const Strategy& strategy, const SimulatorOptions& options)
      : trace_(trace), strategy_(strategy), options_(options), estimator_(k_beginning) {
    configure();
  }

  SimulatorResult run(const std::stop_token& stop);

 private:
  void configure();
  void advance(TimePoint to);
  void handle(const WorldEvent& event);
  // Users: world_users.cpp.
  void arrive(std::uint32_t session);
  bool claim(std::uint32_t session);
  void serve_queue();
  void wait(std::uint32_t session);
  void end(std::uint32_t session);
  void give_up();
  void promise(std::uint32_t session);
  // GPUs: world_gpus.cpp.
  int coming() const;
  int creatable(Source source) const;
  void prepare_next();
  void ensure_for_waiters();
  std::size_t index_of(std::uint32_t number) const;
  void provision(bool for_waiter);
  void create(Source source, bool for_waiter);
  void start(std::size_t index, Operation operation);
  void wake(std::size_t index);
  void pause(std::size_t index);
  void ready(std::size_t index);
  void fail(std::size_t index, Attempt::Result result);
  void remove(std::size_t index);
  void interrupt(const std::vector<std::uint32_t>& sessions);
  void lose_call(std::size_t index);
  void reconcile();
  void pay(Machine& machine, Source source, bool pays);
  void record(const Gpu& gpu, Operation operation, Attempt::Result result, Duration took);
  // The controller: world_controller.cpp.
  void tick();
  void plan_for_baseline();
  void apply();
  void restart();
  SimulatorResult result() const;

  bool shipped() const { return strategy_.shipped(); }
  int queued() const { return static_cast<int>(queue_.size()); }
  SourceState& source(Source source) { return snapshot_.sources[static_cast<std::size_t>(source)]; }

  const Trace& trace_;
  const Strategy strategy_;
  const SimulatorOptions& options_;
  ScalingLimits limits_{};

  TimePoint now_ = k_beginning;
  EventQueue events_{};
  Cost cost_{};
  Waits waits_{};

  std::vector<Visit> visits_{};
  std::deque<std::uint32_t> queue_{};
  int busy_ = 0;

  Snapshot snapshot_{};  // its gpus are the pool's rows
  std::vector<Machine> machines_{};
  std::uint32_t numbers_ = 0, attempts_ = 0;

  Plan plan_{};
  DemandEstimator estimator_;
  TargetWindow window_{};
  std::vector<std::pair<Action::Kind, std::uint32_t>> chosen_{};
  TimePoint down_until_{};
  std::deque<DemandBucket> buckets_{};  // the store's, for restarts
  std::deque<Attempt> history_{};
  int direction_ = 0;

  int reversals_ = 0;
  SimulatorResult result_{};
};

}  // namespace navtalk
