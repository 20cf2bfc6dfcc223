#include "scheduler/health/probe_records.h"

#include <functional>
#include <unordered_set>

namespace navtalk {

const ProbeRecords::Record* ProbeRecords::find(const GpuId& id) const {
  const auto found = records_.find(id);
  return found == records_.end() ? nullptr : &found->second;
}

void ProbeRecords::begin(const GpuId& id, Clock::time_point now, Duration spread) {
  const auto [at, is_new] = records_.try_emplace(id);
  Record& record = at->second;
  if (now - record.asked > k_row_ends) record.answers = 0;
  record.asked = record.counted_from = now;
  // As if it had been asked earlier, so that it is due again earlier.
  if (is_new && spread > Duration{}) {
    record.counted_from -= Duration(static_cast<Duration::rep>(
        std::hash<GpuId>{}(id) % static_cast<std::size_t>(spread.count())));
  }
  record.under_way = true;
  ++under_way_;
}

void ProbeRecords::end(const GpuId& id) {
  const auto found = records_.find(id);
  if (found == records_.end() || !found->second.under_way) return;
  found->second.under_way = false;
  --under_way_;
}

void ProbeRecords::leave_instance(const GpuId& id, const Record& record) {
  const auto group = by_instance_.find(record.instance);
  if (group == by_instance_.end()) return;
  group->second.erase(id);
  if (group->second.empty()) by_instance_.erase(group);
}

ProbeRecords::Record ProbeRecords::note_good(const GpuId& id, const std::string& instance,
                                             int slots, Clock::time_point now) {
  Record& record = records_[id];
  if (instance != record.instance) {
    record.good = 0;  // a restarted worker must prove itself again
    leave_instance(id, record);
    record.instance = instance;
    if (!instance.empty()) by_instance_[instance].insert(id);
  }
  if (record.good == 0) record.since = now;
  record.slots = slots;
  record.answered = record.asked;
  ++record.answers;
  ++record.good;
  record.bad = 0;
  return record;
}

ProbeRecords::Record ProbeRecords::note_bad(const GpuId& id) {
  Record& record = records_[id];
  ++record.answers;
  record.good = 0;
  ++record.bad;
  return record;
}

std::vector<GpuId> ProbeRecords::same_instance(const GpuId& id) const {
  std::vector<GpuId> others;
  const Record* const own = find(id);
  if (own == nullptr || own->instance.empty()) return others;
  const auto group = by_instance_.find(own->instance);
  if (group == by_instance_.end()) return others;
  for (const GpuId& other : group->second) {
    if (other != id) others.push_back(other);
  }
  return others;
}

void ProbeRecords::keep(const std::vector<Gpu>& gpus) {
  if (records_.size() <= gpus.size()) return;
  std::unordered_set<GpuId> known;
  for (const Gpu& gpu : gpus) known.insert(gpu.id);
  std::erase_if(records_, [&](const auto& entry) {
    const auto& [id, record] = entry;
    if (known.contains(id) || record.under_way) return false;
    leave_instance(id, record);
    return true;
  });
}

}  // namespace navtalk
