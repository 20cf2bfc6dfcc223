#include "scheduler/scaling/rules.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include "scheduler/scaling/capacity.h"
#include "scheduler/scaling/growth.h"

namespace navtalk {
namespace {

using Kind = Action::Kind;

}  // namespace

// In this order: nothing is removed that was just woken, nothing drained that is removed.
void Rules::run() {
  fail_stale();
  grow(snapshot_, limits_, now_, plan_);
  release_drained();
  if (snapshot_.demand.history_ready) shrink();
  rotate_old();
}

void Rules::act(Kind kind, std::size_t index, std::string_view why) {
  const Gpu& gpu = snapshot_.gpus[index];
  plan_.actions.push_back(
      {.kind = kind, .index = index, .gpu = gpu.id, .source = gpu.source, .why = why});
}

bool Rules::starts_late(const Gpu& gpu) const {
  const auto source = static_cast<std::size_t>(gpu.source);
  return gpu.state == State::starting && now_ - gpu.since > limits_.start_deadline.at(source);
}

// Starts that take too long, and failed GPUs whose hold is over. Failed external ones are left
// alone: the prober goes on asking them.
void Rules::fail_stale() {
  for (std::size_t i = 0; i < snapshot_.gpus.size(); ++i) {
    const Gpu& gpu = snapshot_.gpus[i];
    if (!gpu.dedicated_to.empty()) continue;
    const bool clearable = gpu.state == State::failed && gpu.source != Source::external;
    if (starts_late(gpu)) {
      act(Kind::fail, i, "its start took longer than the deadline");
    } else if (clearable && !in_hold(gpu, snapshot_, limits_, now_) && gpu.sessions == 0) {
      act(Kind::clear_failed, i, "failed, and its hold is over");
    }
  }
}

bool Rules::removable(const Gpu& gpu) const {
  if (gpu.state != State::idle || gpu.sessions > 0) return false;
  if (gpu.source == Source::external || !gpu.dedicated_to.empty()) return false;
  if (gpu.intent.operation != Operation::none) return false;
  // The waiter it was started for is about to claim it; an old reservation holds nothing.
  return gpu.reserved_for.empty() || now_ - gpu.since >= limits_.reservation_hold;
}

// A paused local GPU costs nothing; a stopped pod costs its disk, and is useless if waking fails.
bool Rules::worth_pausing(const Gpu& gpu, std::size_t paused_pods) const {
  if (gpu.source != Source::cloud) return gpu.source == Source::local;
  const double success_rate = snapshot_.demand.wake_at(Source::cloud).success_rate;
  return plan_.cloud && success_rate >= limits_.min_wake_success_rate &&
         static_cast<int>(paused_pods) < limits_.max_paused_cloud;
}

bool Rules::stays_for_now(const Gpu& gpu) const {
  return plan_.target.idle_hold && in_idle_hold(gpu, limits_, now_);
}

// Cloud first, the most expensive first, then those of the emptiest nodes, one node after the other, then
// those with an error, then the newest. Those in their hold last: they stay, and others must not go for
// them at a source that costs less.
void Rules::sort_for_removal(std::vector<std::size_t>& indices) const {
  std::map<std::string_view, int> on_node;
  for (const auto& [unused, place] : snapshot_.places) ++on_node[place];
  std::sort(indices.begin(), indices.end(), [&](std::size_t a, std::size_t b) {
    const auto key = [&](std::size_t index) {
      const Gpu& gpu = snapshot_.gpus[index];
      const auto place = snapshot_.places.find(gpu.id);
      const bool known = place != snapshot_.places.end();
      const std::string_view node = known ? std::string_view(place->second) : std::string_view();
      return std::tuple(gpu.source == Source::cloud, !stays_for_now(gpu), gpu.usd_per_hour,
                        known ? -on_node.at(node) : 0, node, !gpu.last_error.empty(), index);
    };
    return key(a) > key(b);
  });
}

// An operator who drains a pod wants it removed, and pays for it until it is. A drained local GPU
// keeps its row, and with it its device, on which another worker would be started otherwise; but it
// frees the device's memory. No drained GPU is supply, so this does not shrink the pool.
void Rules::release_drained() {
  for (std::size_t i = 0; i < snapshot_.gpus.size(); ++i) {
    const Gpu& gpu = snapshot_.gpus[i];
    if (!gpu.draining) continue;
    const bool stopped = gpu.state == State::paused && gpu.dedicated_to.empty() &&
                         gpu.intent.operation == Operation::none;
    if (gpu.source == Source::cloud && (stopped || removable(gpu))) {
      act(Kind::destroy, i, "drained, and without sessions");
    } else if (gpu.source == Source::local && removable(gpu)) {
      act(Kind::pause, i, "drained, and without sessions: its device is free");
    }
  }
}

void Rules::shrink() {
  int surplus = plan_.capacity.supply() - plan_.target.most;
  std::vector<std::size_t> idle, paused_pods;
  for (std::size_t i = 0; i < snapshot_.gpus.size(); ++i) {
    const Gpu& gpu = snapshot_.gpus[i];
    if (gpu.state == State::paused && gpu.source == Source::cloud && shared(gpu) &&
        gpu.intent.operation == Operation::none && !kept_by_operator(gpu)) {
      paused_pods.push_back(i);
    }
    if (gpu.draining || !removable(gpu)) continue;
    if (gpu.source == Source::cloud && !plan_.cloud) {
      act(Kind::destroy, i, "the cloud is switched off");
    } else if (surplus > 0 && !silent(gpu)) {  // a silent one is not part of the surplus
      idle.push_back(i);
    }
  }
  std::size_t paused = paused_pods.size();  // with those that this tick pauses
  sort_for_removal(idle);
  for (const std::size_t i : idle) {
    const Gpu& gpu = snapshot_.gpus[i];
    if (gpu.slots > surplus) continue;
    surplus -= gpu.slots;
    if (stays_for_now(gpu)) {
      plan_.kept += gpu.slots;
      continue;
    }
    const bool pause = worth_pausing(gpu, paused);
    if (pause && gpu.source == Source::cloud) ++paused;
    act(pause ? Kind::pause : Kind::destroy, i, "more slots are free than are needed");
  }
  drop_paused(std::move(paused_pods), paused);
}

// One after the other, and none while any GPU starts, so that a pool whose pods are all of one age
// never lacks GPUs.
void Rules::rotate_old() {
  if (limits_.max_pod_age <= Duration{} || plan_.capacity.starting > 0) return;
  for (std::size_t i = 0; i < snapshot_.gpus.size(); ++i) {
    const Gpu& gpu = snapshot_.gpus[i];
    const bool old = now_ - gpu.created_at >= limits_.max_pod_age;
    if (gpu.source != Source::cloud || !gpu.serving() || !old || !shared(gpu)) continue;
    const auto same = [&](const Action& action) { return action.gpu == gpu.id; };
    if (gpu.intent.operation != Operation::none ||
        std::any_of(plan_.actions.begin(), plan_.actions.end(), same)) {
      continue;
    }
    return act(Kind::drain, i, "older than a pod may be");
  }
}

// Until the cloud is switched off: then no pod stays.
bool Rules::kept_by_operator(const Gpu& gpu) const {
  return limits_.cloud != CloudSwitch::off && kept_paused(gpu);
}

void Rules::drop_paused(std::vector<std::size_t> pods, std::size_t paused_pods) {
  const int worth = limits_.cloud == CloudSwitch::off ? 0 : limits_.max_paused_cloud;
  sort_for_removal(pods);
  for (const std::size_t i : pods) {
    if (static_cast<int>(paused_pods) <= worth) break;
    const auto woken = [&](const Action& action) {
      return action.index == i && action.kind == Kind::wake;
    };
    if (std::any_of(plan_.actions.begin(), plan_.actions.end(), woken)) continue;
    act(Kind::destroy, i, "more pods are paused than are worth their disk");
    --paused_pods;
  }
}

}  // namespace navtalk
