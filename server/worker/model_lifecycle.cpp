#include "server/worker/model_lifecycle.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "avatars/live/live_rate.h"
#include "core/base/device_lost.h"
#include "core/log/log.h"
#include "server/http/as_tuple.h"
#include "server/http/run_on.h"

namespace navtalk::server {
namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

namespace {

std::string seconds_since(Clock::time_point begin) {
  return fmt::format("{:.3f}", std::chrono::duration<double>(Clock::now() - begin).count());
}

}  // namespace

ModelLifecycle::ModelLifecycle(const asio::any_io_executor& executor, Engine engine,
                               Threads threads, ModelOptions options)
    : executor_(executor),
      engine_(std::move(engine)),
      threads_(threads),
      options_(std::move(options)),
      phase_changed_(executor, asio::steady_timer::time_point::max()),
      avatars_(options_.avatars) {}

WorkLoop::Clock::duration ModelLifecycle::since_heartbeat() const {
  return std::max(threads_.loop.since_heartbeat(), threads_.inference.since_heartbeat());
}

asio::awaitable<void> ModelLifecycle::start() {
  try {
    co_await load();
  } catch (...) {
    start_problem_ = std::current_exception();
  }
}

asio::awaitable<void> ModelLifecycle::wake() {
  if (phase_ != Phase::paused) co_return;
  change_to(Phase::waking);
  try {
    wake_took_s_ = co_await load();
  } catch (const std::exception&) {
    co_return;  // problem() says it
  }
}

// Until there are nets, and the first avatar: seconds. Throws what the engine threw, after the phase has changed to failed.
asio::awaitable<double> ModelLifecycle::load() {
  const auto begin = Clock::now();
  try {
    fell_back_ = co_await run_on(threads_.loop.executor(), [this] { return load_nets(); });
    if (fell_back_) ++fallbacks_;
    if (!options_.preload.empty()) preloaded_ = co_await avatar(options_.preload);
  } catch (const std::exception& error) {
    log::error("loading failed", {{"error", error.what()}});
    fail(error);
    throw;
  }
  const std::chrono::duration<double> took = Clock::now() - begin;
  log::info("ready for sessions",
            {{"device", device()}, {"took_s", fmt::format("{:.3f}", took.count())}});
  change_to(Phase::ready);
  co_return took.count();
}

bool ModelLifecycle::load_nets() {
  const auto beat = [this] { threads_.loop.heartbeat(); };
  try {
    const auto begin = Clock::now();
    if (std::exchange(in_host_memory_, false)) {
      engine_.wake();
      log::info("the weights are back on the device", {{"took_s", seconds_since(begin)}});
    } else {
      engine_.load(beat);
    }
    beat();  // however long that took, it is not stuck
    threads_.inference.warm_up();
    beat();
    return false;
  } catch (const OutOfMemory& problem) {
    if (!engine_.fall_back) throw;
    fall_back(problem);
  }
  return true;
}

void ModelLifecycle::fall_back(const OutOfMemory& problem) {
  log::error("the device has no memory for the nets: the CPU draws instead",
             {{"device", engine_.device}, {"error", problem.message()}});
  const double rate = engine_.fall_back();
  threads_.loop.heartbeat();
  const double least = k_live_rates.back().hz();
  if (rate < least)
    throw Error(Code::failed,
                fmt::format("{}; on the CPU the nets draw {:.1f} pictures a second, and a live "
                            "session needs {:.0f}",
                            problem.message(), rate, least));
  threads_.inference.warm_up();
  threads_.loop.heartbeat();
}

asio::awaitable<void> ModelLifecycle::reload(std::function<Awaitable<void>()> sessions_over) {
  if (phase_ != Phase::ready) co_return;
  change_to(Phase::waking);
  co_await sessions_over();
  try {
    co_await run_on(threads_.loop.executor(), [this] {
      threads_.inference.wait_idle();
      engine_.unload();
      threads_.loop.heartbeat();
    });
  } catch (const std::exception& error) {
    log::error("unloading failed", {{"error", error.what()}});
    fail(error);
    co_return;
  }
  try {
    co_await load();
  } catch (const std::exception&) {
    co_return;  // problem() says it
  }
}

asio::awaitable<void> ModelLifecycle::pause() {
  change_to(Phase::pausing);
  const auto begin = Clock::now();
  try {
    co_await run_on(threads_.loop.executor(), [this] { leave_device(); });
    pause_took_s_ = std::chrono::duration<double>(Clock::now() - begin).count();
    change_to(Phase::paused);
  } catch (const std::exception& error) {
    log::error("pausing failed", {{"error", error.what()}});
    fail(error);
  }
}

// A device that is lost stays lost: the worker ends.
void ModelLifecycle::fail(const std::exception& error) {
  problem_ = error.what();
  if (dynamic_cast<const DeviceLost*>(&error) != nullptr) device_lost_ = true;
  change_to(Phase::failed);
}

void ModelLifecycle::leave_device() {
  threads_.inference.wait_idle();  // with the last pictures of a session that is over
  const auto begin = Clock::now();
  try {
    in_host_memory_ = engine_.pause && engine_.pause();
  } catch (const DeviceLost&) {
    throw;  // nothing can be unloaded from it, either
  } catch (const std::exception& error) {
    log::warn("the weights cannot be kept in host memory: a wake loads them from their files",
              {{"error", error.what()}});
  }
  if (!in_host_memory_) engine_.unload();
  threads_.loop.heartbeat();
  log::info("paused: the weights are off the device",
            {{"weights", in_host_memory_ ? "in host memory" : "unloaded"},
             {"took_s", seconds_since(begin)}});
}

asio::awaitable<void> ModelLifecycle::settled() {
  while (phase_ == Phase::waking || phase_ == Phase::starting || phase_ == Phase::pausing)
    co_await phase_changed_.async_wait(k_tuple);
}

asio::awaitable<HeldAvatar> ModelLifecycle::avatar(std::string id, Loading loading) {
  for (;;) {
    if (HeldAvatar known = avatars_.find(id)) co_return known;
    const std::uint64_t dropped_before = dropped_;
    // Behind the drops that were asked for before, also where nothing is at hand.
    auto look = [this, &id] {
      return engine_.prepare_at_hand ? engine_.prepare_at_hand(id) : std::nullopt;
    };
    std::optional<AvatarSize> size = co_await threads_.loader.run(std::move(look));
    if (!size) size = co_await made(id, loading);
    // A drop that was asked for meanwhile runs after this loading, and may be of this avatar.
    if (dropped_ != dropped_before) continue;
    HeldAvatar held = avatars_.add(id, *size);
    drop_surplus();
    co_return held;
  }
}

asio::awaitable<AvatarSize> ModelLifecycle::made(const std::string& id, const Loading& loading) {
  const WaitingPlace place(waiting_, {id, loading});
  auto work = [this, &id] {
    return engine_.prepare(id, [this, &id](std::string_view, std::size_t done, std::size_t total) {
      asio::post(executor_, [this, id, done, total] { tell_waiting(id, done, total); });
    });
  };
  co_return co_await threads_.maker.run(std::move(work));
}

void ModelLifecycle::tell_waiting(const std::string& id, std::size_t done, std::size_t total) {
  for (const Waiting& one : waiting_) {
    if (!one.loading) continue;
    const bool own = one.id == id;
    one.loading(own ? done : 0, own ? total : 0);
  }
}

// Behind whatever the loader does now. One that is asked for again meanwhile is loaded again, behind
// that.
void ModelLifecycle::drop_surplus() {
  for (std::string& id : avatars_.take_surplus()) {
    ++dropped_;
    log::info("an avatar that no session uses is dropped", {{"avatar", id}});
    threads_.loader.post([this, dropped = std::move(id)] {
      if (engine_.drop) engine_.drop(dropped);
    });
  }
}

asio::awaitable<std::shared_ptr<LiveAvatar>> ModelLifecycle::open_live(std::string id,
                                                                       LiveRequest request) {
  if (!engine_.open_live) co_return nullptr;
  auto work = [this, &id, &request] { return engine_.open_live(id, request); };
  try {
    co_return co_await threads_.encoders.run(std::move(work));
  } catch (const DeviceLost& error) {
    log::error("the device is lost", {{"error", error.message()}});
    device_lost_ = true;  // the work loop's next look ends the worker
    throw;
  }
}

void ModelLifecycle::change_to(Phase phase) {
  phase_ = phase;
  phase_changed_.cancel();
}

void ModelLifecycle::sample_device() {
  if (!engine_.use || device_lost_) return;
  try {
    DeviceUse now = engine_.use();
    use_.with([&](DeviceUse& latest) { latest = std::move(now); });
  } catch (const DeviceLost& error) {
    log::error("the device does not answer", {{"error", error.message()}});
    device_lost_ = true;
  }
}

DeviceUse ModelLifecycle::device_use() const {
  return use_.with([](const DeviceUse& latest) { return latest; });
}

}  // namespace navtalk::server
