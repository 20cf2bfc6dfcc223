#include "scheduler/service/pool_service.h"

#include <algorithm>

#include "core/base/sleep.h"
#include "core/log/log.h"
#include "scheduler/queue/lease_expiry.h"

namespace navtalk {
namespace {

using std::chrono::steady_clock;

constexpr Duration k_register_every = std::chrono::seconds(20);
constexpr Duration k_registered_for = std::chrono::seconds(60);
constexpr auto k_beat_within = std::chrono::seconds(30);

std::int64_t steady_us() {
  return std::chrono::duration_cast<Duration>(steady_clock::now().time_since_epoch()).count();
}

}  // namespace

PoolService::PoolService(const PoolParts::Uses& uses, PoolOptions options)
    : store_(uses.store),
      supply_(uses.supply),
      options_(std::move(options)),
      parts_(uses, options_, {.after_failure = [this] { supply_.ensure_for_waiters(); }}) {
  housekeeping();  // the host's devices are known before the first tick
  start("executor", std::chrono::milliseconds(500),
        [this](const auto&) { parts_.executor.step(); });
  start("prober", std::chrono::milliseconds(250),
        [this](const auto&) { parts_.prober.step(leading_); });
  start("scaler", options_.limits.tick,
        [this](const auto&) { leading_ = parts_.scaler.tick().held; });
  start("reconciler", std::chrono::seconds(2), [this](const auto& stop) { reconcile(stop); });
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
                        std::function<void(const std::stop_token&)> step) {
  auto loop = std::make_unique<Loop>();
  Loop& self = *loop;
  self.name = name;
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

std::vector<std::string> PoolService::problems() const {
  const std::int64_t oldest =
      steady_us() - std::chrono::duration_cast<Duration>(k_beat_within).count();
  std::vector<std::string> found;
  for (const auto& loop : loops_) {
    const std::string error = loop->error.with([](const std::string& text) { return text; });
    if (!error.empty()) {
      found.push_back("the pool's loop \"" + loop->name + "\" fails: " + error);
    } else if (loop->beat_us < oldest) {
      found.push_back("the pool's loop \"" + loop->name + "\" has had no step for 30 s");
    }
  }
  return found;
}

void PoolService::housekeeping() {
  const TimePoint now = store_.now();
  if (options_.host && now >= register_at_) {
    register_host(store_, *options_.host, k_registered_for);
    register_at_ = now + k_register_every;
  }
  for (const Lease& lease : expire_stale(store_, options_.lease)) {
    log::warn("a lease expired; its slot is free again",
              {{"lease", lease.id.text}, {"gpu", lease.gpu.text}, {"gateway", lease.gateway}});
  }
  supply_.ensure_for_waiters();
}

void PoolService::reconcile(const std::stop_token& stop) {
  const TimePoint now = store_.now();
  for (auto& [source, reconciler] : parts_.reconcilers) {
    TimePoint& due = reconcile_at_[source];
    if (now < due || (source != Source::local && !leading_)) continue;
    reconciler.pass(stop);
    due = now + reconciler.next_pass();
  }
}

}  // namespace navtalk
