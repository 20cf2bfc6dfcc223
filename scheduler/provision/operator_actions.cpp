#include "scheduler/provision/operator_actions.h"

#include <algorithm>
#include <functional>

#include "core/base/error.h"
#include "core/net/url.h"
#include "core/text/printable.h"
#include "scheduler/health/worker_tokens.h"
#include "scheduler/pool/drain_notices.h"
#include "scheduler/pool/schedule/timetable_state.h"
#include "scheduler/pool/tenant_name.h"
#include "scheduler/pool/update_row.h"

namespace navtalk {
namespace {

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

// Changes the row of that id or beginning of an id.
Gpu change_row(PoolStore& store, const std::string& id, const Cause& cause,
               const std::function<GpuChange(const Gpu&)>& change) {
  const GpuId known = find_one(store, id).id;
  if (const auto row = update_row(store, known, cause, change)) return *row;
  throw Error(Code::not_found, "GPU '" + known.text + "' was removed");
}

// One way to write a URL, so that one worker is one row.
std::string base_of(const std::string& url, bool allow_http) {
  try {
    const HttpUrl parsed = parse_http_url(url);
    check_clear_text(parsed, allow_http);
    return parsed.base();
  } catch (const Error& error) {
    throw error.within("the worker's URL '" + printable(url) + "'");
  }
}

// The name is shown on terminals and in logs, and compared with names in a file.
void check_tenant(const TenantId& tenant) {
  if (tenant.empty() || valid_tenant_name(tenant)) return;
  throw Error(Code::invalid, "'" + printable_start(tenant.text, k_longest_tenant) +
                                 "' is not a valid tenant name: " + k_tenant_name_rule);
}

}  // namespace

Gpu register_gpu(PoolStore& store, const PoolIdentity& identity, const Registration& registration,
                 const std::string& who) {
  if (registration.slots < 1) throw Error(Code::invalid, "a GPU has at least one slot");
  check_tenant(registration.dedicated_to);
  Gpu gpu = new_gpu(identity, Source::external);
  gpu.url = base_of(registration.url, registration.allow_http);
  gpu.slots = registration.slots;
  gpu.dedicated_to = registration.dedicated_to;
  return store.add({.gpu = gpu}, {who, "registered"}).value();
}

// The notice first: the change of the row wakes the gateways that have to read it. A GPU that is drained for a while already stays
// drained from now on.
Gpu drain_gpu(PoolStore& store, const std::string& id, Duration notice, const std::string& who) {
  const GpuId gpu = find_one(store, id).id;
  k_maintenance_drains.update(store, [&](MaintenanceDrains& drains) { std::erase(drains, gpu); });
  give_drain_notice(store, {.gpu = gpu, .ends_at = store.now() + notice});
  return change_row(store, gpu.text, {who, "drain"},
                    [](const Gpu&) { return GpuChange{.draining = true}; });
}

Gpu undrain_gpu(PoolStore& store, const std::string& id, const std::string& who) {
  const GpuId gpu = find_one(store, id).id;
  withdraw_drain_notice(store, gpu);
  return change_row(store, gpu.text, {who, "takes sessions again"},
                    [](const Gpu&) { return GpuChange{.draining = false}; });
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

// The mark that the scaler respects is written with the intent: a process that dies here leaves both
// or neither.
Gpu pause_gpu(PoolStore& store, const std::string& id, const std::string& who) {
  return change_row(store, id, {who, "pause"}, [&](const Gpu& gpu) {
    if (gpu.state != State::idle) {
      not_allowed(gpu, "only an idle GPU can be paused; drain it and wait for its sessions");
    }
    const Intent intent = next_intent(gpu, Operation::pause, store.now());
    return GpuChange{.event = Event::pause, .intent = intent, .operator_pause = intent.number};
  });
}

Gpu remove_gpu(PoolStore& store, const std::string& id, const std::string& who) {
  const Gpu known = find_one(store, id);
  const Cause cause{who, "removed"};
  const auto check_unused = [](const Gpu& gpu) {
    if (gpu.sessions == 0) return;
    not_allowed(gpu, "it has " + std::to_string(gpu.sessions) +
                         " session(s); drain it and wait until they end");
  };
  if (known.source == Source::external) {
    remove_row(store, known.id, cause, [&](const Gpu& gpu) {
      check_unused(gpu);
      return true;
    });
    return known;
  }
  Gpu last = known;
  const auto row = update_row(store, known.id, cause, [&](const Gpu& gpu) {
    last = gpu;
    check_unused(gpu);
    if (gpu.intent.operation == Operation::destroy) return std::optional<GpuChange>();
    if (!next(gpu.state, Event::destroy)) not_allowed(gpu, "it cannot be removed now");
    return std::optional(GpuChange{.event = Event::destroy,
                                   .intent = next_intent(gpu, Operation::destroy, store.now())});
  });
  return row.value_or(last);
}

}  // namespace navtalk
