#include "scheduler/service/crashed_worker.h"

#include <algorithm>

#include "scheduler/pool/fail_row.h"
#include "scheduler/provision/hosts.h"

namespace navtalk {
namespace {

bool gives_its_device_back(const Gpu& gpu, const std::string& host) {
  const bool was_ready = gpu.seen_at > TimePoint{};
  return gpu.source == Source::local && gpu.host == host && gpu.state == State::failed &&
         gpu.sessions == 0 && gpu.intent.operation == Operation::none && shared(gpu) && was_ready;
}

bool is_sole(PoolStore& store, const std::string& host, const std::string& who) {
  const std::vector<Host> hosts = live_hosts(store);
  return std::none_of(hosts.begin(), hosts.end(),
                      [&](const Host& other) { return other.name == host && other.owner != who; });
}

}  // namespace

void fail_crashed_worker(PoolStore& store, const std::string& name, const std::string& how,
                         const std::string& who) {
  const std::string why = "the worker ended with " + how;
  for (const Gpu& gpu : store.view().gpus) {
    if (gpu.name != name) continue;
    fail_row(store, gpu.id, {.cause = {who, why}}, [](const Gpu& row) {
      return next(row.state, Event::fail) && row.state != State::stopping &&
             row.intent.operation == Operation::none;
    });
  }
}

void release_ended_workers(PoolStore& store, Provider& local, const std::string& host,
                           const std::string& who) {
  const PoolView view = store.view();
  for (const Gpu& gpu : view.gpus) {
    if (!gives_its_device_back(gpu, host)) continue;
    if (!local.replaceable(gpu, is_sole(store, host, who))) continue;
    store.change({.id = gpu.id,
                  .version = gpu.version,
                  .event = Event::destroy,
                  .intent = next_intent(gpu, Operation::destroy, view.now)},
                 {who, "its process has ended: its device is free"});
  }
}

}  // namespace navtalk
