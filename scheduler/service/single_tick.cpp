#include "scheduler/service/single_tick.h"

#include <algorithm>
#include <chrono>

#include "scheduler/provision/supply.h"
#include "scheduler/queue/lease_expiry.h"

namespace navtalk {
namespace {

using std::chrono::steady_clock;

constexpr Duration k_probes = std::chrono::seconds(20);
constexpr Duration k_renew = std::chrono::seconds(5);
// Nothing is begun later: a call that fails late would be repeated for as long as others are under way.
constexpr auto k_begin = std::chrono::seconds(15);
constexpr auto k_longest = std::chrono::minutes(3);
// Proven ready is what answers twice; a registered worker also waits for those who serve, who may
// have answered a moment before it.
constexpr int k_rounds = 3;
// Longer than any failed GPU is held, unless an outage lasts, and than any backoff.
constexpr Duration k_failures_remembered = std::chrono::hours(1);

}  // namespace

SingleTick::SingleTick(const PoolParts::Uses& uses, const PoolOptions& options)
    : store_(uses.store),
      lease_(options.lease),
      budgets_(options.budgets),
      providers_(uses.providers),
      parts_(uses, options, {.after_failure = [] {}, .probe_at_once = true}) {
  if (options.webhook) webhook_.emplace(store_, *options.webhook);
}

TickReport SingleTick::run(const std::stop_token& stop) {
  if (!parts_.scaler.hold()) return {};
  expire_stale_if_unwatched(store_, lease_, stop);
  if (stop.stop_requested() || !parts_.scaler.hold()) return {};  // that may have taken a while
  for (auto& [source, reconciler] : parts_.reconcilers) reconciler.pass(stop);
  ask_workers(stop);
  if (stop.stop_requested()) return {};  // nothing new is begun
  TickReport report{.tick = parts_.scaler.tick()};
  if (!report.tick.held || stop.stop_requested()) return report;
  watch_budgets(store_, budgets_);
  carry_out(stop);
  for (Provider* provider : providers_) {
    if (!stop.stop_requested()) provider->attend(store_.view().gpus, stop);
  }
  if (!stop.stop_requested()) report.problems = problems(report.tick.plan);
  if (webhook_ && !stop.stop_requested()) webhook_->step(stop);
  return report;
}

std::vector<TickProblem> SingleTick::problems(const Plan& plan) {
  ProvidersSaid said{.answers = parts_.executor.take_answers()};
  for (const auto& [source, reconciler] : parts_.reconcilers) {
    if (!reconciler.failed_list().empty()) said.failed_lists[source] = reconciler.failed_list();
  }
  if (const auto pause = creation_pause(store_)) said.creation_paused = pause->why;
  const PoolView view = store_.view();
  said.failed_starts = failed_starts(view, store_.attempts(view.now - k_failures_remembered));
  return tick_problems(said, plan);
}

void SingleTick::ask_workers(const std::stop_token& stop) {
  for (int round = 0; round < k_rounds && !stop.stop_requested(); ++round) {
    parts_.prober.step(true);
    parts_.prober.wait_idle(k_probes, stop);
  }
}

void SingleTick::carry_out(const std::stop_token& stop) {
  const auto began = steady_clock::now();
  // What one operation leaves to do (a pod that breaks the cap is to be destroyed) is begun at once.
  // A step also renews the leases of what takes long.
  while (parts_.executor.step(steady_clock::now() < began + k_begin)) {
    parts_.scaler.hold();
    parts_.executor.wait_idle(k_renew, stop);
    if (stop.stop_requested() || steady_clock::now() >= began + k_longest) return;
  }
}

}  // namespace navtalk
