// What a reconciler has seen once and acts on only when it sees it again. Kept in the store, since
// the next look may be another process's: a timer starts one for each tick. Plain values; pure.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "scheduler/pool/gpu.h"

namespace navtalk {

struct Sightings {
  struct Sighting {
    TimePoint first{};
    int times = 0;  // in a row
    friend bool operator==(const Sighting&, const Sighting&) = default;
  };
  std::map<std::string, Sighting> orphans{};  // places without a row, by provider id
  std::map<GpuId, int> absences{};            // whole lists in a row that lacked the row's place
  std::set<std::string> strangers{};          // names of other stores' places that were told
  std::set<GpuId> replaced{};                 // that drain because another is to take their place

  friend bool operator==(const Sightings&, const Sightings&) = default;
};

std::string as_text(const Sightings& sightings);
// What is no such text gives none.
Sightings parse_sightings(const std::optional<std::string>& text);

}  // namespace navtalk
