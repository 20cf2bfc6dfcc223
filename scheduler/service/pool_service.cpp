#include "scheduler/service/pool_service.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/sleep.h"
#include "core/log/log.h"
#include "scheduler/queue/lease_expiry.h"
#include "scheduler/service/crashed_worker.h"

namespace navtalk {
namespace {

using std::chrono::steady_clock;

constexpr Duration k_budgets_every = std::chrono::minutes(1);
constexpr std::chrono::seconds k_budgets_patience{120};
constexpr Duration k_webhook_every = std::chrono::seconds(1);
// A step ends at the first endpoint that does not answer; thousands of events may be waiting.
constexpr std::chrono::seconds k_webhook_patience{600};
constexpr Duration k_attend_every = std::chrono::seconds(1);
// What a provider tells by itself waits no longer.
constexpr Duration k_reconcile_every = std::chrono::seconds(1);
// A cloud's list may take a minute (runpod/api/api.h), and says nothing about the rest.
constexpr std::chrono::seconds k_list_patience{120};

std::int64_t steady_us() {
  return std::chrono::duration_cast<Duration>(steady_clock::now().time_since_epoch()).count();
}

}  // namespace

PoolService::PoolService(const PoolParts::Uses& uses, PoolOptions options)
    : store_(uses.store),
      supply_(uses.supply),
      options_(std::move(options)),
      parts_(uses, options_, {.after_failure = [this] { supply_.ensure_for_waiters(); }}) {
  for (Provider* provider : uses.providers) {
    if (provider->source() == Source::local) local_ = provider;
  }
  housekeeping();  // the host's devices are known before the first tick
  start("executor", std::chrono::milliseconds(500),
        [this](const auto&) { parts_.executor.step(); });
  start("prober", std::chrono::milliseconds(250),
        [this](const auto&) { parts_.prober.step(leading_); });
  start("scaler", options_.limits.tick,
        [this](const auto&) { leading_ = parts_.scaler.tick().held; });
  for (auto& [source, reconciler] : parts_.reconcilers) start_reconciler(source, reconciler);
  for (Provider* provider : uses.providers) {
    if (provider->source() == Source::cloud) start_attendant(*provider);
  }
  start(
      "budgets", k_budgets_every,
      [this](const auto&) {
        if (leading_) watch_budgets(store_, options_.budgets);
      },
      k_budgets_patience);
  if (options_.webhook) {
    webhook_.emplace(store_, *options_.webhook);
    start(
        "webhook", k_webhook_every,
        [this](const auto& stop) {
          if (leading_) webhook_->step(stop);
        },
        k_webhook_patience);
  }
  start("housekeeping", std::chrono::seconds(1), [this](const auto&) { housekeeping(); });
}

PoolService::~PoolService() {
  for (const auto& loop : loops_) loop->thread.request_stop();
  loops_.clear();
  try {
    if (options_.host) unregister_host(store_, *options_.host);
  } catch (const std::exception& error) {
    log::debug("the host's record runs out by itself", {{"error", error.what()}});
  }
}

// One step after the other, `every` apart, until the stop. An error is logged and the loop
// continues: the database may come back.
void PoolService::start(const std::string& name, Duration every,
                        std::function<void(const std::stop_token&)> step,
                        std::chrono::seconds patience) {
  auto loop = std::make_unique<Loop>();
  Loop& self = *loop;
  self.name = name;
  self.patience = patience;
  self.beat_us = steady_us();
  self.thread =
      std::jthread([this, &self, every, step = std::move(step)](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
          try {
            step(stop);
            self.beat_us = steady_us();
            self.error.with([](std::string& text) { text.clear(); });
            outage_.well(self.name);
          } catch (const std::exception& error) {
            self.error.with([&](std::string& text) { text = error.what(); });
            outage_.failed(self.name, error.what());
          }
          sleep_for(every, stop);
        }
      });
  loops_.push_back(std::move(loop));
}

void PoolService::start_reconciler(Source source, Reconciler& reconciler) {
  start(
      "reconciler of " + std::string(name(source)), k_reconcile_every,
      [this, source, &reconciler, due = TimePoint{}](const auto& stop) mutable {
        if (source != Source::local && !leading_) return;
        const bool changed = reconciler.provider_changed();
        const TimePoint now = store_.now();
        if (now < due && !changed) return;
        reconciler.pass(stop);
        due = now + reconciler.next_pass();
      },
      k_list_patience);
}

void PoolService::start_attendant(Provider& provider) {
  start(
      "attendant of " + std::string(name(provider.source())), k_attend_every,
      [this, &provider](const auto& stop) {
        if (leading_) provider.attend(store_.view().gpus, stop);
      },
      k_list_patience);
}

std::vector<std::string> PoolService::problems() const {
  const std::int64_t now = steady_us();
  std::vector<std::string> found;
  for (const auto& loop : loops_) {
    const std::string error = loop->error.with([](const std::string& text) { return text; });
    if (!error.empty()) {
      found.push_back("the pool's loop \"" + loop->name + "\" fails: " + error);
    } else if (now - loop->beat_us > Duration(loop->patience).count()) {
      found.push_back("the pool's loop \"" + loop->name + "\" has had no step for " +
                      std::to_string(loop->patience.count()) + " s");
    }
  }
  return found;
}

// The record of another machine or container under the name of this host.
std::optional<Host> PoolService::renew_host() {
  const TimePoint now = store_.now();
  const bool set_back = now < register_at_ - k_host_renewal;  // the clock
  if (!options_.host || (now < register_at_ && !set_back)) return std::nullopt;
  auto other = register_host(store_, *options_.host);
  if (!other) register_at_ = now + k_host_renewal;
  return other;
}

void PoolService::housekeeping() {
  const std::optional<Host> elsewhere = renew_host();
  for (const Lease& lease : expire_stale(store_, options_.lease)) {
    log::warn("a lease expired; its slot is free again",
              {{"lease", lease.id.text}, {"gpu", lease.gpu.text}, {"gateway", lease.gateway}});
  }
  supply_.ensure_for_waiters();
  if (elsewhere) throw Error(Code::invalid, host_name_taken_by(*elsewhere));
  if (local_ != nullptr && options_.host)
    release_ended_workers(store_, *local_, options_.host->name, options_.owner);
}

}  // namespace navtalk
