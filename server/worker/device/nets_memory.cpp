#include "server/worker/device/nets_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/out_of_memory.h"
#include "core/log/log.h"

namespace navtalk::server {
namespace {

// What CUDA itself takes for each process that uses a device; no function tells of it.
constexpr std::uint64_t k_context = 512ULL << 20;

std::string mib(std::uint64_t bytes) { return fmt::format("{} MiB", bytes >> 20); }

std::uint64_t difference(std::uint64_t a, std::uint64_t b) { return a - std::min(a, b); }

}  // namespace

void NetsMemory::begin() { before_ = meter_.now().used; }

void NetsMemory::loaded() {
  meter_.restart();
  const DeviceMemory now = meter_.now();
  budget_->note(now);
  std::optional<MemoryReservation> nets = budget_->reserve(MemoryUser::nets, now.own);
  if (!nets)
    throw OutOfMemory(
        fmt::format("memory: with the nets, which take {}, {} of the device's {} are in use, "
                    "more than 95 %",
                    mib(now.own), mib(now.used), mib(now.total)));
  reservations_.push_back(std::move(*nets));
}

void NetsMemory::draw(std::size_t faces, const std::function<void()>& work) {
  meter_.restart();
  const std::uint64_t rest = meter_.now().own;
  work();
  const std::uint64_t peak = difference(meter_.most(), rest);
  const DeviceMemory now = meter_.now();
  budget_->note(now);
  std::optional<MemoryReservation> more =
      budget_->reserve(MemoryUser::batches, difference(peak, batches_));
  if (!more)
    throw OutOfMemory(fmt::format("a batch of {} takes {}, and {} of the device's {} are in use",
                                  faces, mib(peak), mib(now.used), mib(now.total)));
  reservations_.push_back(std::move(*more));
  batches_ = std::max(batches_, peak);
  figures_.with([&](Figures& all) {
    all.frames_limit = budget_->room() / 4;
    all.of_process = difference(now.used, before_) + k_context;
  });
  log::info(
      "memory of a batch",
      {{"faces", std::to_string(faces)}, {"peak", mib(peak)}, {"left", mib(budget_->room())}});
}

void NetsMemory::unloaded() {
  reservations_.clear();
  batches_ = 0;
  meter_.restart();
  budget_->note(meter_.now());
}

}  // namespace navtalk::server
