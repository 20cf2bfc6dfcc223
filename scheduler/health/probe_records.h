// What this process has seen of each GPU, by its own clock. Not thread-safe.
#pragma once

#include <chrono>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "scheduler/pool/pool_store.h"

namespace navtalk {

class ProbeRecords {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds k_row_ends{30};  // without a probe
  struct Record {
    Clock::time_point asked{};
    int answers = 0;                   // good or bad, without a pause of k_row_ends
    Clock::time_point counted_from{};  // the time until the next probe
    bool under_way = false;
    int good = 0, bad = 0;         // answers in a row; good: of one instance
    std::string instance{};        // the last that answered there
    int slots = 0;                 // that it reported
    Clock::time_point since{};     // the first answer of that instance
    Clock::time_point answered{};  // when the last good answer was asked for
  };

  // nullptr: it was never asked.
  const Record* find(const GpuId& id) const;
  // The probes of GPUs that are first asked at one time are spread over `spread` from then on.
  void begin(const GpuId& id, Clock::time_point now, Duration spread);
  void end(const GpuId& id);
  int under_way() const { return under_way_; }
  // The answer to what was begun last.
  Record note_good(const GpuId& id, const std::string& instance, int slots, Clock::time_point now);
  Record note_bad(const GpuId& id);
  // Other GPUs at which the same instance was the last that answered.
  std::vector<GpuId> same_instance(const GpuId& id) const;
  // Forgets GPUs that are gone. Only when there are more records than rows, because it visits all of
  // both.
  void keep(const std::vector<Gpu>& gpus);

 private:
  void leave_instance(const GpuId& id, const Record& record);

  std::unordered_map<GpuId, Record> records_;
  std::unordered_map<std::string, std::set<GpuId>> by_instance_;
  int under_way_ = 0;
};

}  // namespace navtalk
