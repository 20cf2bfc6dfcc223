#include "gpu/timing/event_times.h"

#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <utility>

#include "core/base/interrupt.h"

namespace navtalk {
namespace {

using Clock = std::chrono::steady_clock;
using Times = std::vector<std::chrono::duration<double>>;

constexpr int k_warm_up = 5;
constexpr std::size_t k_together = 20, k_fewest = 100, k_fewest_on_cpu = 3;

Times host_times(const std::function<void()>& work, std::chrono::duration<double> budget,
                 const std::stop_token& stop) {
  Times runs;
  work();
  for (const auto start = Clock::now();
       runs.size() < k_fewest_on_cpu || Clock::now() - start < budget;) {
    throw_if_stopped(stop);
    const auto begin = Clock::now();
    work();
    runs.emplace_back(Clock::now() - begin);
  }
  return runs;
}

}  // namespace

Times event_times(const c10::Device& device, const std::function<void()>& work,
                  std::chrono::duration<double> budget, const std::stop_token& stop) {
  if (device.is_cpu()) return host_times(work, budget, stop);
  const c10::impl::VirtualGuardImpl guard(device.type());
  const c10::Stream stream = guard.getStream(device);
  for (int i = 0; i < k_warm_up; ++i) work();
  guard.synchronizeStream(stream);
  Times runs;
  for (const auto start = Clock::now(); runs.size() < k_fewest || Clock::now() - start < budget;) {
    throw_if_stopped(stop);
    std::vector<std::pair<c10::Event, c10::Event>> marks;
    for (std::size_t i = 0; i < k_together; ++i) {
      auto& [begin, end] =
          marks.emplace_back(c10::Event(device.type(), c10::EventFlag::BACKEND_DEFAULT),
                             c10::Event(device.type(), c10::EventFlag::BACKEND_DEFAULT));
      begin.record(stream);
      work();
      end.record(stream);
    }
    guard.synchronizeStream(stream);
    for (const auto& [begin, end] : marks) runs.emplace_back(begin.elapsedTime(end) / 1000);
  }
  return runs;
}

}  // namespace navtalk
