// What a reconciler has observed, and acts on only when it observes it again. Kept in the store,
// because the next pass may run in another process: a timer starts one for each tick. Plain values.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "scheduler/pool/gpu.h"

namespace navtalk {

struct Observations {
  struct Orphan {
    TimePoint first{};
    int times = 0;  // in a row
    friend bool operator==(const Orphan&, const Orphan&) = default;
  };
  std::map<std::string, Orphan> orphans{};  // instances without a row, by provider id
  // How often in a row the provider neither listed the row's instance nor knew its id.
  std::map<GpuId, int> missing{};
  std::set<std::string> foreign{};  // names of other stores' instances that were reported
  std::set<GpuId> replaced{};       // rows that drain because they are to be replaced
  // The name of the row that was asked for last, when others still wait for that; else empty.
  std::string asked{};

  friend bool operator==(const Observations&, const Observations&) = default;
};

std::string as_text(const Observations& observed);
// nullopt for text of another form.
std::optional<Observations> parse_observations(std::string_view text);
// Where the store keeps those of one list. `host`: whose local workers; empty: all of the source.
std::string observations_setting(Source source, const std::string& host);

}  // namespace navtalk
