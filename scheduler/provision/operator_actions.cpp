#include "scheduler/provision/operator_actions.h"

#include <algorithm>
#include <functional>

#include "core/base/error.h"
#include "core/net/url.h"
#include "core/text/printable.h"
#include "scheduler/pool/kept_paused.h"

namespace navtalk {
namespace {

constexpr int k_tries = 20;
constexpr std::size_t k_longest_tenant = 64;

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

// One way to write it, so that one place is one row.
std::string base_of(const std::string& url) {
  try {
    return parse_http_url(url).base();
  } catch (const Error& error) {
    throw error.within("the worker's URL '" + printable(url) + "'");
  }
}

// It is shown on terminals and in logs, and compared with names in a file.
void check_tenant(const TenantId& tenant) {
  const auto allowed = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  const std::string& text = tenant.text;
  if (text.size() <= k_longest_tenant && std::all_of(text.begin(), text.end(), allowed)) return;
  throw Error(Code::invalid, "'" + printable_start(text, k_longest_tenant) +
                                 "' is no tenant to dedicate a GPU to: 1 to 64 letters, digits, "
                                 "'.', '_' and '-'");
}

}  // namespace

Gpu register_gpu(PoolStore& store, const PoolIdentity& identity, const Registration& registration,
                 const std::string& who) {
  if (registration.slots < 1) throw Error(Code::invalid, "a GPU has at least one slot");
  check_tenant(registration.dedicated_to);
  Gpu gpu = new_gpu(identity, Source::external);
  gpu.url = base_of(registration.url);
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
    if (gpu.draining && gpu.dedicated_to.empty())
      not_allowed(gpu, "it is drained, and would be paused again; undo that first");
    return GpuChange{.event = Event::wake,
                     .intent = next_intent(gpu, Operation::wake, store.now())};
  });
}

Gpu pause_gpu(PoolStore& store, const std::string& id, const std::string& who) {
  Gpu row = change_row(store, id, {who, "pause"}, [&](const Gpu& gpu) {
    if (gpu.state != State::idle) {
      not_allowed(gpu, "only an idle GPU can be paused; drain it and wait for its sessions");
    }
    return GpuChange{.event = Event::pause,
                     .intent = next_intent(gpu, Operation::pause, store.now())};
  });
  keep_paused(store, row);
  return row;
}

Gpu remove_gpu(PoolStore& store, const std::string& id, const std::string& who) {
  for (int i = 0; i < k_tries; ++i) {
    Gpu gpu = find_one(store, id);
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
