#include "kubernetes/watch/pod_watch.h"

#include <algorithm>
#include <random>

#include "core/base/sleep.h"
#include "core/log/log.h"

namespace navtalk::kubernetes {
namespace {

using std::chrono::milliseconds;
using Kind = ApiFault::Kind;

constexpr std::size_t k_longest_line = 4 << 20;  // bytes; one event is one line
constexpr milliseconds k_first_pause{250}, k_longest_pause{30'000}, k_refused_pause{60'000};
constexpr milliseconds k_fair_stream{10'000};  // one that ends earlier on its own is a failure too

// Until a person acts.
bool lasting(const ApiFault& fault) {
  return fault.kind == Kind::forbidden || fault.kind == Kind::unprepared;
}

// After so many failures in a row; a random part, so that gateways do not come back together.
milliseconds watch_pause(const ApiFault& fault, int failures) {
  thread_local std::minstd_rand random(std::random_device{}());
  const double part = std::uniform_real_distribution<double>(0.5, 1)(random);
  const milliseconds bound =
      lasting(fault)
          ? k_refused_pause
          : std::min(k_longest_pause, k_first_pause * (1 << std::clamp(failures - 1, 0, 10)));
  const milliseconds asked = std::min(fault.retry_after.value_or(milliseconds(0)), k_refused_pause);
  return std::max(asked,
                  milliseconds(static_cast<long long>(part * static_cast<double>(bound.count()))));
}

}  // namespace

PodWatch::PodWatch(Cluster cluster, ApiTimes times, std::string pool_id)
    : api_(std::move(cluster), times),
      pool_id_(std::move(pool_id)),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

void PodWatch::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const auto begun = std::chrono::steady_clock::now();
    const std::optional<ApiFault> fault = step(stop);
    if (stop.stop_requested()) return;
    const bool lasted = std::chrono::steady_clock::now() - begun >= k_fair_stream;
    failures_ = !fault && lasted ? 1 : failures_ + 1;
    if (fault) tell(*fault);
    sleep_for(watch_pause(fault.value_or(ApiFault{}), failures_), stop);
  }
}

// One stream, until it ends. nullopt: it ended as streams do.
std::optional<ApiFault> PodWatch::step(const std::stop_token& stop) {
  if (version_.empty()) {
    const PodList list = api_.list(pool_id_, stop);
    if (list.fault) return list.fault;
    note(changes_.listed(list.pods));
    version_ = list.version;
  }
  std::string held;
  std::optional<ApiFault> fault;
  const auto on_bytes = [&](std::string_view bytes) {
    held += bytes;
    std::size_t begin = 0;
    for (std::size_t end; (end = held.find('\n', begin)) != std::string::npos; begin = end + 1) {
      if (!take_line(held.substr(begin, end - begin), fault)) return false;
    }
    held.erase(0, begin);
    return held.size() <= k_longest_line;
  };
  const ApiResult<Nothing> result = api_.watch(pool_id_, version_, on_bytes, stop);
  if (!fault) {
    if (const auto* why = std::get_if<ApiFault>(&result)) fault = *why;
  }
  if (fault && fault->kind == Kind::expired) version_.clear();
  return fault;
}

// False: the stream is of no more use, and why.
bool PodWatch::take_line(const std::string& line, std::optional<ApiFault>& fault) {
  if (line.empty()) return true;
  const std::optional<PodEvent> event = parse_pod_event(line);
  if (!event) {
    version_.clear();
    fault = ApiFault{Kind::malformed, 0, "the watch gave an event that cannot be read"};
    return false;
  }
  if (event->kind == PodEvent::Kind::error) {
    fault = event->fault;
    return false;
  }
  failures_ = 0;
  refused_told_ = false;
  if (!event->pod.version.empty()) version_ = event->pod.version;
  note(changes_.happened(*event));
  return true;
}

void PodWatch::note(bool changed) {
  if (changed) changed_ = true;
}

// A refusal lasts until a person acts, and lists go on without the watch.
void PodWatch::tell(const ApiFault& fault) {
  if (lasting(fault) && !refused_told_) {
    refused_told_ = true;
    log::warn("pods cannot be watched: what happens to one is seen by the next list only",
              {{"error", fault.message}});
  } else {
    log::debug("the watch of pods begins again", {{"why", fault.message}});
  }
}

}  // namespace navtalk::kubernetes
