#include "scheduler/operator_actions.h"

#include <algorithm>
#include <functional>

#include "core/error.h"
#include "core/http_url.h"
#include "core/printable.h"

namespace navtalk {
namespace {

constexpr int k_tries = 20;

Gpu find_one(PoolStore& store, const std::string& id) {
  if (const std::optional<Gpu> gpu = store.find({id})) return *gpu;
  std::vector<Gpu> found;
  for (const Gpu& gpu : store.view().gpus) {
    if (!id.empty() && gpu.id.text.starts_with(id)) found.push_back(gpu);
  }
  if (found.size() == 1) return found.front();
  if (found.empty()) throw Error(Code::not_found, "there is no GPU '" + printable(id) + "'");
  throw Error(Code::not_found, "'" + printable(id) + "' is the beginning of several GPUs' ids: " +
                                   found[0].id.text + ", " + found[1].id.text);
}

[[noreturn]] void not_allowed(const Gpu& gpu, const std::string& what) {
  throw Error(Code::failed, gpu.id.text + " is " + std::string(name(gpu.state)) + ": " + what);
}

// Changes the row; when somebody else changed it in between, looks again.
Gpu change_row(PoolStore& store, const std::string& id, const Cause& cause,
               const std::function<GpuChange(const Gpu&)>& change) {
  for (int i = 0; i < k_tries; ++i) {
    const Gpu gpu = find_one(store, id);
    GpuChange wanted = change(gpu);
    wanted.id = gpu.id;
    wanted.version = gpu.version;
    if (const std::optional<Gpu> row = store.change(wanted, cause)) return *row;
  }
  throw Error(Code::failed, "'" + printable(id) + "' is changed all the time by others; try again");
}

}  // namespace

Gpu register_gpu(PoolStore& store, const PoolIdentity& identity, const Registration& registration,
                 const std::string& who) {
  try {
    parse_http_url(registration.url);
  } catch (const Error& error) {
    throw error.within("the worker's URL '" + printable(registration.url) + "'");
  }
  if (registration.slots < 1) throw Error(Code::invalid, "a GPU has at least one slot");
  for (const Gpu& gpu : store.view().gpus) {
    if (gpu.url == registration.url) {
      throw Error(Code::invalid, "'" + registration.url + "' is " + gpu.id.text + " already");
    }
  }
  Gpu gpu = new_gpu(identity, Source::external);
  gpu.url = registration.url;
  gpu.slots = registration.slots;
  gpu.dedicated_to = registration.dedicated_to;
  return store.add({.gpu = gpu}, {who, "registered"}).value();
}

Gpu drain_gpu(PoolStore& store, const std::string& id, bool undo, const std::string& who) {
  return change_row(store, id, {who, undo ? "takes sessions again" : "drain"},
                    [&](const Gpu&) { return GpuChange{.draining = !undo}; });
}

Gpu wake_gpu(PoolStore& store, const std::string& id, const std::string& who) {
  return change_row(store, id, {who, "wake"}, [&](const Gpu& gpu) {
    if (gpu.state != State::paused) not_allowed(gpu, "only a paused GPU can be woken");
    return GpuChange{.event = Event::wake,
                     .intent = next_intent(gpu, Operation::wake, store.now())};
  });
}

Gpu pause_gpu(PoolStore& store, const std::string& id, const std::string& who) {
  return change_row(store, id, {who, "pause"}, [&](const Gpu& gpu) {
    if (gpu.state != State::idle) {
      not_allowed(gpu, "only an idle GPU can be paused; drain it and wait for its sessions");
    }
    return GpuChange{.event = Event::pause,
                     .intent = next_intent(gpu, Operation::pause, store.now())};
  });
}

Gpu remove_gpu(PoolStore& store, const std::string& id, const std::string& who) {
  for (int i = 0; i < k_tries; ++i) {
    const Gpu gpu = find_one(store, id);
    if (gpu.sessions > 0) {
      not_allowed(gpu, "it has " + std::to_string(gpu.sessions) +
                           " session(s); drain it and wait until they end");
    }
    if (gpu.source == Source::external) {
      if (store.remove(gpu.id, gpu.version, {who, "removed"})) return gpu;
      continue;
    }
    if (gpu.intent.operation == Operation::destroy) return gpu;
    if (!next(gpu.state, Event::destroy)) not_allowed(gpu, "it cannot be removed now");
    const auto row = store.change({.id = gpu.id,
                                   .version = gpu.version,
                                   .event = Event::destroy,
                                   .intent = next_intent(gpu, Operation::destroy, store.now())},
                                  {who, "removed"});
    if (row) return *row;
  }
  throw Error(Code::failed, "'" + printable(id) + "' is changed all the time by others; try again");
}

}  // namespace navtalk
