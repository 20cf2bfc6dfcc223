// Prober: several rows that lead to one worker, each of which would be given all of its slots.
#include <algorithm>
#include <tuple>

#include "scheduler/prober.h"

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

// Before the first answers of those who serve nobody can tell whose worker answers. Local ones of
// other hosts are not asked here, nor can they be reached.
bool Prober::knows_all_who_serve() const {
  const PoolView view = store_.view();
  return records_.with([&](const auto& records) {
    return std::all_of(view.gpus.begin(), view.gpus.end(), [&](const Gpu& gpu) {
      const bool elsewhere = gpu.source == Source::local && gpu.host != options_.host;
      if (!serves(gpu) || gpu.url.empty() || elsewhere) return true;
      const auto record = records.find(gpu.id);
      return record != records.end() && record->second.good + record->second.bad > 0;
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
