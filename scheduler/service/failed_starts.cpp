#include "scheduler/service/failed_starts.h"

#include <algorithm>

namespace navtalk {
namespace {

const Attempt* last_attempt(const std::vector<Attempt>& attempts, const GpuId& id) {
  const auto found = std::find_if(attempts.rbegin(), attempts.rend(), [&](const Attempt& attempt) {
    const bool start =
        attempt.operation == Operation::create || attempt.operation == Operation::wake;
    return start && attempt.gpu == id;
  });
  return found == attempts.rend() ? nullptr : &*found;
}

// A create whose outcome is not known, and that no executor holds.
bool unsettled(const Gpu& gpu, TimePoint now) {
  const Intent& intent = gpu.intent;
  return gpu.state == State::starting && intent.operation == Operation::create && intent.called &&
         intent.until <= now && !gpu.last_error.empty();
}

}  // namespace

std::vector<FailedStart> failed_starts(const PoolView& view, const std::vector<Attempt>& attempts) {
  std::vector<FailedStart> failed;
  for (const Gpu& gpu : view.gpus) {
    if (gpu.source == Source::external || !shared(gpu)) continue;
    FailedStart start{.source = gpu.source, .slots = gpu.slots, .why = gpu.last_error};
    if (unsettled(gpu, view.now)) {
      start.starting = true;
      failed.push_back(std::move(start));
    }
    if (gpu.state != State::failed) continue;
    const Attempt* attempt = last_attempt(attempts, gpu.id);
    const bool never_ready = attempt == nullptr && gpu.seen_at == TimePoint{};
    if (!never_ready && (attempt == nullptr || attempt->result == Attempt::Result::ok)) continue;
    if (attempt != nullptr) {
      start.why = attempt->detail;
      if (attempt->result == Attempt::Result::no_capacity) start.code = Code::no_capacity;
    }
    failed.push_back(std::move(start));
  }
  return failed;
}

}  // namespace navtalk
