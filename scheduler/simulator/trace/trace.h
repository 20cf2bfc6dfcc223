// The sessions that users asked for: when they came and how long they stayed once served.
#pragma once

#include <filesystem>
#include <vector>

#include "core/base/time.h"

namespace navtalk {

struct TracedSession {
  Duration arrival{};   // since the beginning of the trace
  Duration duration{};  // from getting a slot
  friend bool operator==(const TracedSession&, const TracedSession&) = default;
};
using Trace = std::vector<TracedSession>;  // sorted by arrival

// CSV (csv_record.h) with a heading that names at least the columns arrival_s and duration_s;
// seconds, sorted by arrival, sessions of up to 31 days within 400 days; times count from the first
// row's arrival if that is past a day (a trace in Unix time). Error{invalid} naming file and line;
// Error{not_found}.
Trace read_trace(const std::filesystem::path& file);
// Two columns, milliseconds kept.
std::string as_csv(const Trace& trace);

struct TraceFacts {
  std::size_t sessions = 0;
  double span_h = 0;       // from the first arrival to the last
  double mean_s = 0;       // session
  double busy_gpu_h = 0;   // slot-hours
  double burst_1min = 0;   // variance / mean of arrivals per minute
  double burst_10min = 0;  // per ten minutes
};
TraceFacts facts(const Trace& trace);

}  // namespace navtalk
