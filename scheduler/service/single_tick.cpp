#include "scheduler/service/single_tick.h"

#include <algorithm>
#include <chrono>

#include "scheduler/queue/lease_expiry.h"

namespace navtalk {
namespace {

using std::chrono::steady_clock;

constexpr Duration k_probes = std::chrono::seconds(20);
constexpr Duration k_renew = std::chrono::seconds(5);
constexpr auto k_longest = std::chrono::minutes(3);
// Proven ready is what answers twice; a registered worker also waits for those who serve, who may
// have answered a moment before it.
constexpr int k_rounds = 3;

}  // namespace

SingleTick::SingleTick(PoolStore& store, Supply& supply, DemandTracker& demand_tracker,
                       std::vector<Provider*> providers, PoolServiceOptions options)
    : store_(store),
      lease_(options.lease),
      executor_(store, providers, {.owner = options.owner, .settle = options.settle}, [] {}),
      prober_(store, {.who = options.owner,
                      .token = options.worker_token,
                      .starting_every = {},
                      .running_every = {},
                      .failed_every = {}}),
      scaler_(
          store, supply, demand_tracker, provider_of(providers, Source::cloud),
          {.limits = options.limits, .owner = options.owner, .cloud_slots = options.cloud_slots}) {
  for (Provider* provider : providers) {
    if (provider->source() != Source::cloud) continue;
    reconcilers_.push_back(
        std::make_unique<Reconciler>(store, *provider,
                                     ReconcilerOptions{.identity = options.identity,
                                                       .who = "reconciler " + options.owner,
                                                       .orphan_grace = options.settle,
                                                       .settle = options.settle}));
  }
}

Tick SingleTick::run(const std::stop_token& stop) {
  if (!scaler_.hold()) return {};
  end_silent_if_unwatched(store_, lease_, stop);
  if (stop.stop_requested() || !scaler_.hold()) return {};  // that may have taken a while
  for (const auto& reconciler : reconcilers_) reconciler->pass(stop);
  ask_workers(stop);
  if (stop.stop_requested()) return {};  // nothing new is begun
  Tick tick = scaler_.tick();
  if (tick.held && !stop.stop_requested()) carry_out(stop);
  return tick;
}

void SingleTick::ask_workers(const std::stop_token& stop) {
  for (int round = 0; round < k_rounds && !stop.stop_requested(); ++round) {
    prober_.step(true);
    prober_.wait_idle(k_probes, stop);
  }
}

void SingleTick::carry_out(const std::stop_token& stop) {
  const auto deadline = steady_clock::now() + k_longest;
  do {
    executor_.step();  // also renews the leases of what takes long
    scaler_.hold();
  } while (!executor_.wait_idle(k_renew, stop) && !stop.stop_requested() &&
           steady_clock::now() < deadline);
}

}  // namespace navtalk
