// What a run of `bench serve` found. Plain values; serve_report.h prints them.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "cmd/bench/serve/distribution.h"
#include "cmd/bench/serve/live_client.h"
#include "cmd/bench/serve/metrics.h"
#include "cmd/bench/serve/processes/process_watch.h"

namespace navtalk::cmd {

// A gateway with stand-in workers, beside the same clients that are connected to the worker directly.
struct RelayResult {
  Distribution to_client{}, to_worker{};                // milliseconds, through the gateway
  Distribution direct_to_client{}, direct_to_worker{};  // and without it
  std::uint64_t messages = 0;                           // relayed, both ways
  double seconds = 0;
  double gateway_processor_s = 0;
  double bench_processor_s = 0;  // of the clients and the stand-in worker meanwhile
};

struct ServeResult {
  std::string url{};
  std::array<double, 3> load{};  // averages over 1, 5 and 15 minutes, when the run began
  std::vector<ClientResult> sessions{}, connects{};
  Metrics worker_growth{};  // from before the sessions to after them
  std::vector<WatchedProcess> processes{};
  double opened_to_played_s = 0;
  bool settled = true;  // threads and descriptors are what they were before
  std::optional<RelayResult> relay{};
};

// Everything was served, and sound came back as it was sent.
bool is_sound(const ServeResult& result);

}  // namespace navtalk::cmd
