#include "scheduler/service/pool_service.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "core/log/log.h"
#include "scheduler/queue/lease_expiry.h"

namespace navtalk {
namespace {

using std::chrono::steady_clock;

constexpr Duration k_sign_in_every = std::chrono::seconds(20);
constexpr Duration k_signed_in = std::chrono::seconds(60);
constexpr auto k_turning = std::chrono::seconds(30);
// The list of this host's processes is never behind, but for one that is just being started.
constexpr Duration k_local_settle = std::chrono::seconds(5);

std::int64_t steady_us() {
  return std::chrono::duration_cast<Duration>(steady_clock::now().time_since_epoch()).count();
}

}  // namespace

PoolService::PoolService(PoolStore& store, Supply& supply, DemandTracker& demand_tracker,
                         std::vector<Provider*> providers, PoolServiceOptions options)
    : store_(store),
      supply_(supply),
      options_(std::move(options)),
      executor_(store, providers,
                {.owner = options_.owner,
                 .host = this_host(),
                 .devices = options_.host ? std::optional(options_.host->devices) : std::nullopt,
                 .settle = options_.settle},
                [this] { supply_.ensure_for_waiters(); }),
      prober_(store, {.who = options_.owner, .host = this_host(), .token = options_.worker_token}),
      scaler_(store, supply, demand_tracker, provider_of(providers, Source::cloud),
              {.limits = options_.limits,
               .owner = options_.owner,
               .cloud_slots = options_.cloud_slots}) {
  for (Provider* provider : providers) {
    if (provider->source() == Source::external) continue;
    const bool local = provider->source() == Source::local;
    const Duration settle = local ? k_local_settle : options_.settle;
    reconcilers_.emplace(
        provider->source(),
        std::make_unique<Reconciler>(store, *provider,
                                     ReconcilerOptions{.identity = options_.identity,
                                                       .who = "reconciler " + options_.owner,
                                                       .host = local ? this_host() : "",
                                                       .orphan_grace = settle,
                                                       .settle = settle}));
  }
  housekeeping();  // the host's devices are known before the first tick
  start("executor", std::chrono::milliseconds(500), [this](const auto&) { executor_.step(); });
  start("prober", std::chrono::milliseconds(250), [this](const auto&) { prober_.step(leading_); });
  start("scaler", options_.limits.tick, [this](const auto&) { leading_ = scaler_.tick().held; });
  start("reconciler", std::chrono::seconds(2), [this](const auto& stop) { reconcile(stop); });
  start("housekeeping", std::chrono::seconds(1), [this](const auto&) { housekeeping(); });
}

PoolService::~PoolService() {
  for (const auto& loop : loops_) loop->thread.request_stop();
  loops_.clear();
  try {
    if (options_.host) sign_out(store_, *options_.host);
  } catch (const std::exception& error) {
    log::debug("the host's record runs out by itself", {{"error", error.what()}});
  }
}

std::string PoolService::this_host() const { return options_.host ? options_.host->name : ""; }

// One step after the other, `every` apart, until the stop. An error is told and the loop goes on:
// the database may come back.
void PoolService::start(const std::string& name, Duration every,
                        std::function<void(const std::stop_token&)> step) {
  auto loop = std::make_unique<Loop>();
  Loop& self = *loop;
  self.name = name;
  self.turned_us = steady_us();
  self.thread =
      std::jthread([this, &self, every, step = std::move(step)](const std::stop_token& stop) {
        std::mutex mutex;
        std::condition_variable_any asked;
        std::unique_lock lock(mutex);
        while (!stop.stop_requested()) {
          try {
            step(stop);
            self.turned_us = steady_us();
            self.error.with([](std::string& text) { text.clear(); });
            outage_.well(self.name);
          } catch (const std::exception& error) {
            self.error.with([&](std::string& text) { text = error.what(); });
            outage_.failed(self.name, error.what());
          }
          asked.wait_for(lock, stop, every, [] { return false; });
        }
      });
  loops_.push_back(std::move(loop));
}

std::vector<std::string> PoolService::problems() const {
  const std::int64_t oldest = steady_us() - std::chrono::duration_cast<Duration>(k_turning).count();
  std::vector<std::string> found;
  for (const auto& loop : loops_) {
    const std::string error = loop->error.with([](const std::string& text) { return text; });
    if (!error.empty()) {
      found.push_back("the pool's loop \"" + loop->name + "\" fails: " + error);
    } else if (loop->turned_us < oldest) {
      found.push_back("the pool's loop \"" + loop->name + "\" has not turned for 30 s");
    }
  }
  return found;
}

void PoolService::housekeeping() {
  const TimePoint now = store_.now();
  if (options_.host && now >= sign_in_at_) {
    sign_in(store_, *options_.host, k_signed_in);
    sign_in_at_ = now + k_sign_in_every;
  }
  for (const Lease& lease : end_silent(store_, options_.lease)) {
    log::warn("a session fell silent; its slot is free again",
              {{"lease", lease.id.text}, {"gpu", lease.gpu.text}, {"gateway", lease.gateway}});
  }
  supply_.ensure_for_waiters();
}

void PoolService::reconcile(const std::stop_token& stop) {
  const TimePoint now = store_.now();
  for (const auto& [source, reconciler] : reconcilers_) {
    TimePoint& due = reconcile_at_[source];
    if (now < due || (source != Source::local && !leading_)) continue;
    reconciler->pass(stop);
    due = now + reconciler->next_pass();
  }
}

}  // namespace navtalk
