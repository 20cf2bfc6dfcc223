#include "cmd/bench/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/check.h"
#include "core/base/interrupt.h"

namespace navtalk::cmd {

Timing timing_of(std::vector<std::chrono::duration<double>> runs) {
  NAVTALK_CHECK(!runs.empty());
  std::sort(runs.begin(), runs.end());
  const std::size_t count = runs.size(), middle = count / 2;
  const auto rank = static_cast<std::size_t>(std::ceil(0.99 * static_cast<double>(count)));
  return {.median = count % 2 == 1 ? runs[middle] : (runs[middle - 1] + runs[middle]) / 2,
          .p99 = runs[rank - 1],
          .runs = static_cast<int>(count)};
}

Timing measure(const std::function<void()>& work, std::chrono::duration<double> budget,
               const std::stop_token& stop) {
  using Clock = std::chrono::steady_clock;
  constexpr std::size_t k_fewest = 5;
  work();
  std::vector<std::chrono::duration<double>> runs;
  for (const auto begin = Clock::now(); runs.size() < k_fewest || Clock::now() - begin < budget;) {
    throw_if_stopped(stop);
    const auto start = Clock::now();
    work();
    runs.emplace_back(Clock::now() - start);
  }
  return timing_of(std::move(runs));
}

nlohmann::ordered_json machine_json(const Machine& machine) {
  return {{"cpu", machine.cpu},
          {"isa", machine.isa},
          {"cores", machine.cores},
          {"threads", machine.threads},
          {"memory_gib", std::round(machine.memory_gib * 10) / 10},
          {"libtorch", machine.libtorch}};
}

std::string machine_text(const Machine& machine) {
  const auto counted = [](int count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
  };
  return fmt::format("{}, {}, {}, {}, {:.1f} GiB, libtorch {}", machine.cpu, machine.isa,
                     counted(machine.cores, "core"), counted(machine.threads, "thread"),
                     machine.memory_gib, machine.libtorch);
}

}  // namespace navtalk::cmd
