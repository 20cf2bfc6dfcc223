// What every benchmark command shares: timing a piece of work, and the report that says on which
// machine the numbers were measured.
#pragma once

#include <chrono>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <stop_token>
#include <string>
#include <vector>

#include "gpu/device/device.h"

namespace navtalk::cmd {

struct Timing {
  std::chrono::duration<double> median{}, p99{};
  int runs = 0;
};

// Of unsorted run times, at least one; p99 by the nearest rank, which of few runs is the longest.
Timing timing_of(std::vector<std::chrono::duration<double>> runs);

// Runs `work` once to warm up, then for `budget` and at least five times. Error{interrupted},
// Error{terminated} between runs.
Timing measure(const std::function<void()>& work, std::chrono::duration<double> budget,
               const std::stop_token& stop);

// {"cpu","isa","cores","threads","memory_gib","libtorch"}
nlohmann::ordered_json machine_json(const Machine& machine);
// "AMD EPYC, avx512_bf16, 2 cores, 2 threads, 23.5 GiB, libtorch 2.11.0"
std::string machine_text(const Machine& machine);

}  // namespace navtalk::cmd
