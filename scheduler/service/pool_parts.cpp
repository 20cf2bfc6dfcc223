#include "scheduler/service/pool_parts.h"

namespace navtalk {
namespace {

// The list of this host's processes is never behind, except for one that is just being started.
constexpr Duration k_local_window = std::chrono::seconds(5);

std::string host_of(const PoolOptions& options) { return options.host ? options.host->name : ""; }

ExecutorOptions executor_options(const PoolOptions& options) {
  return {.owner = options.owner,
          .host = host_of(options),
          .devices = options.host ? std::optional(options.host->devices) : std::nullopt,
          .consistency_window = options.consistency_window,
          .max_usd_per_hour = options.limits.max_usd_per_hour};
}

ProberOptions prober_options(const PoolOptions& options, bool at_once) {
  ProberOptions prober{
      .who = options.owner, .host = host_of(options), .tokens = options.worker_tokens};
  if (at_once) {
    prober.starting_every = prober.running_every = prober.failed_every = {};
    prober.record_every = prober.look_every = {};
  }
  return prober;
}

ReconcilerOptions reconciler_options(const PoolOptions& options, bool local) {
  const Duration window = local ? k_local_window : options.consistency_window;
  return {.identity = options.identity,
          .who = "reconciler " + options.owner,
          .host = local ? host_of(options) : "",
          .max_usd_per_hour = options.limits.max_usd_per_hour,
          .orphan_grace = window,
          .consistency_window = window};
}

}  // namespace

PoolParts::PoolParts(const Uses& uses, const PoolOptions& options, Mode mode)
    : executor(uses.store, uses.providers, executor_options(options),
               std::move(mode.after_failure)),
      prober(uses.store, prober_options(options, mode.probe_at_once)),
      scaler(uses.store, uses.supply, uses.demand_tracker,
             provider_of(uses.providers, Source::cloud),
             {.limits = options.limits,
              .timetable = options.timetable,
              .owner = options.owner,
              .cloud_slots = options.cloud_slots,
              .has_asked = [this](const Gpu& gpu) { return prober.has_asked(gpu); }}) {
  for (Provider* provider : uses.providers) {
    const Source source = provider->source();
    if (source == Source::external) continue;
    reconcilers.try_emplace(source, uses.store, *provider,
                            reconciler_options(options, source == Source::local));
  }
}

}  // namespace navtalk
