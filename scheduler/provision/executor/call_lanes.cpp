#include "scheduler/provision/executor/call_lanes.h"

#include <algorithm>

#include "core/log/log.h"

namespace navtalk {
namespace {

constexpr std::size_t k_queue = 1024;  // more due intents than this wait for the next step

}  // namespace

CallLanes::CallLanes(CallLanesOptions options, RowWorkers::Work work)
    : options_(std::move(options)), work_(std::move(work)) {
  const auto make_work = [this] {
    return [this](const Gpu& row, const std::stop_token& ending) { run(row, ending); };
  };
  for (const Source source : options_.sources) {
    for (const Operation operation :
         {Operation::create, Operation::wake, Operation::pause, Operation::destroy}) {
      lanes_.try_emplace({source, operation}, static_cast<int>(options_.threads), k_queue,
                         make_work);
    }
  }
}

CallLanes::~CallLanes() {
  for (auto& [unused, lane] : lanes_) lane.request_stop();
}

bool CallLanes::start(const Gpu& row) {
  const auto lane = lanes_.find({row.source, row.intent.operation});
  return lane != lanes_.end() && lane->second.start(row);
}

bool CallLanes::under_way(const GpuId& id) const {
  return std::any_of(lanes_.begin(), lanes_.end(),
                     [&](const auto& lane) { return lane.second.under_way(id); });
}

bool CallLanes::wait_idle(Duration at_most, const std::stop_token& stop) {
  const Clock::time_point until = Clock::now() + at_most;
  for (auto& [unused, lane] : lanes_) {
    const auto left = std::chrono::duration_cast<Duration>(until - Clock::now());
    if (!lane.wait_idle(std::max(left, Duration{}), stop)) return false;
  }
  return true;
}

void CallLanes::attend() {
  const Clock::time_point now = Clock::now();
  widen_slow(now);
  end_late(now);
}

void CallLanes::widen_slow(Clock::time_point now) {
  std::map<std::pair<Source, Operation>, Clock::time_point> youngest;
  calls_.with([&](const auto& calls) {
    for (const auto& [unused, call] : calls) {
      Clock::time_point& begun = youngest[{call.row.source, call.row.intent.operation}];
      begun = std::max(begun, call.begun);
    }
  });
  for (const auto& [lane, begun] : youngest) {
    if (now - begun < options_.slow) continue;
    lanes_.at(lane).widen(options_.threads, options_.most_threads);
  }
}

void CallLanes::end_late(Clock::time_point now) {
  std::vector<Call> late;
  calls_.with([&](auto& calls) {
    for (const auto& [unused, call] : calls) {
      if (now >= call.until && !call.stop.stop_requested()) late.push_back(call);
    }
  });
  // Outside the lock: a stop request runs what waits for it.
  for (Call& call : late) {
    log::warn("a call to a provider is ended at its deadline: its outcome is not known",
              {{"gpu", call.row.id.text},
               {"operation", name(call.row.intent.operation)},
               {"provider", name(call.row.source)}});
    call.stop.request_stop();
  }
}

void CallLanes::run(const Gpu& row, const std::stop_token& ending) {
  std::stop_source stop;
  const std::stop_callback forward(ending, [&stop] { stop.request_stop(); });
  const Duration deadline = options_.deadline.at(static_cast<std::size_t>(row.intent.operation));
  const Clock::time_point now = Clock::now();
  calls_.with([&](auto& calls) { calls[row.id] = {row, now, now + deadline, stop}; });
  work_(row, stop.get_token());
  calls_.with([&](auto& calls) { calls.erase(row.id); });
}

}  // namespace navtalk
