// Prober: several rows that lead to one worker, each of which would be given all of its slots.
#include <algorithm>
#include <tuple>

#include "scheduler/health/prober.h"

namespace navtalk {
namespace {

bool serves(const Gpu& gpu) { return gpu.state == State::idle || gpu.state == State::running; }

// Which of two rows of one worker is the second one?
bool is_second(const Gpu& gpu, const Gpu& other) {
  if (gpu.source != Source::external) return false;
  if (!serves(other) && other.state != State::starting) return false;
  if (other.source != Source::external) return true;
  if (serves(gpu) != serves(other)) return serves(other);
  return std::tie(gpu.created_at, gpu.id) > std::tie(other.created_at, other.id);
}

}  // namespace

// nullopt: no other row leads to its worker, or all of these are second to this one.
std::optional<std::string> Prober::why_second(const Gpu& gpu) const {
  if (gpu.source != Source::external) return std::nullopt;
  const std::vector<GpuId> twins = records_.with([&](const auto& records) {
    std::vector<GpuId> found;
    const auto own = records.find(gpu.id);
    if (own == records.end() || own->second.instance.empty()) return found;
    for (const auto& [id, record] : records) {
      if (id != gpu.id && record.instance == own->second.instance) found.push_back(id);
    }
    return found;
  });
  for (const GpuId& id : twins) {
    const std::optional<Gpu> other = store_.find(id);
    if (!other || !is_second(gpu, *other)) continue;
    return "its worker is that of " + id.text + " (" + other->url +
           "): a worker has one row; remove one of the two";
  }
  return std::nullopt;
}

// Whose worker answers is known only by answers that are younger than this worker's first: before,
// the same one may have run as another instance. One that serves no more is waited for until it
// fails. Local ones of other hosts are not asked here, nor can they be reached.
bool Prober::heard_all_who_serve(const Gpu& gpu) const {
  const PoolView view = store_.view();
  return records_.with([&](const auto& records) {
    const auto own = records.find(gpu.id);
    if (own == records.end()) return false;
    return std::all_of(view.gpus.begin(), view.gpus.end(), [&](const Gpu& other) {
      const bool elsewhere = other.source == Source::local && other.host != options_.host;
      if (!serves(other) || other.url.empty() || elsewhere) return true;
      const auto record = records.find(other.id);
      return record != records.end() && record->second.answered >= own->second.since;
    });
  });
}

void Prober::refuse_second(const Gpu& gpu, const std::string& why) {
  const std::optional<Gpu> row = store_.find(gpu.id);
  if (!row) return;
  if (row->state != State::failed) {
    if (serves(*row) || row->intent.number == gpu.intent.number) fail(*row, why);
  } else if (row->last_error != why) {
    store_.missed(gpu.id, store_.now(), why);
  }
}

}  // namespace navtalk
