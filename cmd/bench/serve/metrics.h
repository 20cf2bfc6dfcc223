// Prometheus' text format, as far as `bench serve` reads it: values by name, and what happened between
// two scrapes. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace navtalk::cmd {

// By name with labels, as it stands in the page: `a_total{b="c"}`.
using Metrics = std::map<std::string, double>;

Metrics parse_metrics(std::string_view page);
// Those of both, later minus earlier.
Metrics grown(const Metrics& earlier, const Metrics& later);
// Summed by name, over several workers.
void add(Metrics& sum, const Metrics& more);
double value_of(const Metrics& metrics, const std::string& name);  // 0 where it is missing

// What one stage of a worker took on average.
struct Stage {
  std::string name{};  // "inference", "encode"
  double mean_ms = 0;  // of a picture that went through it
  double count = 0;    // these pictures
};
// Of a worker's growth: navtalk_worker_stage_seconds_total{stage="NAME"}; of a worker that has none,
// navtalk_worker_NAME_seconds_total.
std::vector<Stage> stages_of(const Metrics& growth);

}  // namespace navtalk::cmd
