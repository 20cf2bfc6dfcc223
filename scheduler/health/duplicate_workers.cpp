// Prober: duplicate rows, which lead to one worker. Each of them would be given all of its slots.
#include <algorithm>
#include <tuple>

#include "scheduler/health/prober.h"

namespace navtalk {
namespace {

// Of two rows of one worker: is `gpu` the duplicate?
bool is_duplicate(const Gpu& gpu, const Gpu& other) {
  if (gpu.source != Source::external) return false;
  const bool owns = other.serving() || other.state == State::starting ||
                    (other.source != Source::external && may_return(other));
  if (!owns) return false;
  if (other.source != Source::external) return true;
  if (gpu.serving() != other.serving()) return other.serving();
  return std::tie(gpu.created_at, gpu.id) > std::tie(other.created_at, other.id);
}

}  // namespace

// nullopt: no other row leads to its worker, or all of these are duplicates of this one.
std::optional<std::string> Prober::why_duplicate(const Gpu& gpu) const {
  if (gpu.source != Source::external) return std::nullopt;
  const std::vector<GpuId> same_worker = [&] {
    const std::lock_guard lock(mutex_);
    return records_.same_instance(gpu.id);
  }();
  for (const GpuId& id : same_worker) {
    const std::optional<Gpu> other = store_.find(id);
    if (!other || !is_duplicate(gpu, *other)) continue;
    return "its worker is that of " + id.text + " (" + other->url +
           "): a worker has one row; remove one of the two";
  }
  return std::nullopt;
}

// Only answers that are younger than this worker's first one tell the workers apart: before, the same
// worker may have run as another instance. A row that serves but does not answer is waited for until
// it fails. Local workers of other hosts are not asked here and cannot be reached.
bool Prober::all_serving_answered(const Gpu& gpu, const PoolView& view) const {
  const std::lock_guard lock(mutex_);
  const ProbeRecords::Record* const own = records_.find(gpu.id);
  if (own == nullptr) return false;
  return std::all_of(view.gpus.begin(), view.gpus.end(), [&](const Gpu& other) {
    const bool elsewhere = other.source == Source::local && other.host != options_.host;
    if (!other.serving() || other.url.empty() || elsewhere) return true;
    const ProbeRecords::Record* const record = records_.find(other.id);
    return record != nullptr && record->answered >= own->since;
  });
}

void Prober::refuse_duplicate(const Gpu& gpu, const std::string& why) {
  const std::optional<Gpu> row = store_.find(gpu.id);
  if (!row) return;
  if (row->state != State::failed) {
    if (row->serving() || row->intent.number == gpu.intent.number) fail(*row, why);
  } else if (row->last_error != why) {
    store_.missed({{gpu.id, why}}, store_.now());
  }
}

}  // namespace navtalk
