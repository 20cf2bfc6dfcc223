#include "scheduler/service/failed_starts.h"

#include <algorithm>

namespace navtalk {
namespace {

template <class Matches>
const Attempt* last_start(const std::vector<Attempt>& attempts, const Matches& matches) {
  const auto found = std::find_if(attempts.rbegin(), attempts.rend(), [&](const Attempt& attempt) {
    const bool start =
        attempt.operation == Operation::create || attempt.operation == Operation::wake;
    return start && matches(attempt);
  });
  return found == attempts.rend() ? nullptr : &*found;
}

bool failed(const Attempt* attempt) {
  return attempt != nullptr && attempt->result != Attempt::Result::ok;
}

FailedStart failed_start(const Attempt& attempt, int slots) {
  const bool full = attempt.result == Attempt::Result::no_capacity;
  return {.source = attempt.source,
          .slots = slots,
          .code = full ? Code::no_capacity : Code::failed,
          .why = attempt.detail};
}

// A create whose outcome is not known, and that no executor holds.
bool unsettled(const Gpu& gpu, TimePoint now) {
  const Intent& intent = gpu.intent;
  return gpu.state == State::starting && intent.operation == Operation::create && intent.called &&
         intent.until <= now && !gpu.last_error.empty();
}

}  // namespace

std::vector<FailedStart> failed_starts(const PoolView& view, const std::vector<Attempt>& attempts) {
  std::vector<FailedStart> starts;
  for (const Gpu& gpu : view.gpus) {
    if (gpu.source == Source::external || !shared(gpu)) continue;
    const FailedStart known{.source = gpu.source, .slots = gpu.slots, .why = gpu.last_error};
    if (unsettled(gpu, view.now)) {
      starts.push_back(known);
      starts.back().starting = true;
    }
    if (gpu.state != State::failed) continue;
    const auto* last = last_start(attempts, [&](const Attempt& one) { return one.gpu == gpu.id; });
    if (failed(last)) {
      starts.push_back(failed_start(*last, gpu.slots));
    } else if (last == nullptr && gpu.seen_at == TimePoint{}) {
      starts.push_back(known);
    }
  }
  for (const Source source : {Source::local, Source::cloud}) {
    const auto there = [&](const FailedStart& start) { return start.source == source; };
    if (std::any_of(starts.begin(), starts.end(), there)) continue;
    const auto* last =
        last_start(attempts, [&](const Attempt& one) { return one.source == source; });
    if (failed(last)) starts.push_back(failed_start(*last, 0));
  }
  return starts;
}

}  // namespace navtalk
