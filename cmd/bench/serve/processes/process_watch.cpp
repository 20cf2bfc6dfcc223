#include "cmd/bench/serve/processes/process_watch.h"

#include <unistd.h>

#include <algorithm>

#include "core/base/interrupt.h"
#include "core/base/sleep.h"

namespace navtalk::cmd {
namespace {

using namespace std::chrono_literals;

// Connections for probes and metrics come and go, and are kept for a while.
constexpr int k_spare = 4;

bool has_grown(const WatchedProcess& process) {
  const auto &before = process.use(Moment::before), &after = process.use(Moment::after);
  return before && after &&
         (after->threads > before->threads + k_spare ||
          after->descriptors > before->descriptors + k_spare);
}

}  // namespace

ProcessWatch::ProcessWatch(GatewayAccess& gateway) {
  if (gateway.pid()) processes_.push_back({.name = "gateway", .pid = *gateway.pid()});
  int number = 0;
  for (const MeasuredWorker& worker : gateway.workers()) {
    // A stand-in worker is in the bench's own process.
    if (worker.pid && *worker.pid != getpid())

      processes_.push_back({.name = "worker " + std::to_string(++number),
                            .in_pool = worker.name,
                            .pid = *worker.pid});
  }
}

void ProcessWatch::look(Moment moment) {
  const auto index = static_cast<std::size_t>(moment);
  times_[index] = std::chrono::steady_clock::now();
  for (WatchedProcess& process : processes_) process.uses[index] = use_of(process.pid);
}

bool ProcessWatch::settle(std::chrono::seconds within, const std::stop_token& stop) {
  const auto until = std::chrono::steady_clock::now() + within;
  for (;;) {
    look(Moment::after);
    if (std::ranges::none_of(processes_, has_grown)) return true;
    if (std::chrono::steady_clock::now() >= until) return false;
    sleep_for(100ms, stop);
    throw_if_stopped(stop);
  }
}

double ProcessWatch::time_between(Moment from, Moment to) const {
  return std::chrono::duration<double>(times_[static_cast<std::size_t>(to)] -
                                       times_[static_cast<std::size_t>(from)])
      .count();
}

double processor_between(const WatchedProcess& process, Moment from, Moment to) {
  const auto &first = process.use(from), &last = process.use(to);
  return first && last ? last->processor_s - first->processor_s : 0;
}

}  // namespace navtalk::cmd
