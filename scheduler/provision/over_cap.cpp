#include "scheduler/provision/over_cap.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "core/log/log.h"
#include "scheduler/pool/scaling_limits.h"

namespace navtalk {
namespace {

// The lower, the sooner its price is counted.
int rank(const Gpu& gpu) {
  if (gpu.sessions > 0 && gpu.serving()) return 0;
  if (gpu.state == State::idle) return 1;
  return gpu.state == State::starting ? 2 : 3;
}

bool stays_sooner(const Gpu& a, const Gpu& b) {
  const auto key = [](const Gpu& gpu) {
    return std::tuple(gpu.draining, rank(gpu), gpu.usd_per_hour, gpu.created_at, gpu.id.text);
  };
  return key(a) < key(b);
}

// nullopt: it drains already, or has sessions that only the store can end.
std::optional<GpuChange> giving_up(const Gpu& gpu, TimePoint now) {
  GpuChange change{.id = gpu.id, .version = gpu.version};
  if (gpu.sessions > 0) {
    if (gpu.draining || !gpu.serving()) return std::nullopt;
    change.draining = true;
    return change;
  }
  if (!next(gpu.state, Event::destroy)) return std::nullopt;
  change.event = Event::destroy;
  change.intent = next_intent(gpu, Operation::destroy, now);
  return change;
}

}  // namespace

std::vector<Gpu> over_cap(const std::vector<Gpu>& gpus, double max_usd_per_hour) {
  double left = max_usd_per_hour + k_rounding_usd;
  std::vector<Gpu> may_go;
  for (const Gpu& gpu : gpus) {
    if (gpu.usd_per_hour <= 0 || gpu.state == State::paused || gpu.state == State::stopping)
      continue;
    const bool may_end = gpu.source == Source::cloud && gpu.dedicated_to.empty() &&
                         gpu.intent.operation == Operation::none;
    if (may_end)
      may_go.push_back(gpu);
    else
      left -= gpu.usd_per_hour;
  }
  std::sort(may_go.begin(), may_go.end(), stays_sooner);
  std::erase_if(may_go, [&](const Gpu& gpu) {
    const bool stays = gpu.usd_per_hour <= left;
    if (stays) left -= gpu.usd_per_hour;
    return stays;
  });
  return may_go;
}

bool give_up_over_cap(PoolStore& store, double max_usd_per_hour, const std::string& who) {
  if (max_usd_per_hour <= 0) return false;
  const PoolView view = store.view();
  const std::vector<Gpu> gpus = over_cap(view.gpus, max_usd_per_hour);
  for (const Gpu& gpu : gpus) {
    std::optional<GpuChange> change = giving_up(gpu, view.now);
    if (!change) continue;
    const std::string why = fmt::format(
        "costs {:.2f} USD per hour, and all GPUs together more than pool.max_usd_per_hour "
        "({:.2f}): {}",
        gpu.usd_per_hour, max_usd_per_hour,
        change->draining ? "destroyed after its last session" : "destroyed");
    change->last_error = why;
    // A row that changed since the view was read is left to the next call.
    if (!store.change(*change, {who, why})) continue;
    log::warn(change->draining ? "a GPU with sessions breaks the cap on spending, and drains"
                               : "a GPU breaks the cap on spending, and is destroyed",
              {{"gpu", gpu.id.text}, {"type", gpu.device}, {"why", why}});
  }
  return !gpus.empty();
}

}  // namespace navtalk
