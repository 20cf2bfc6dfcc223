// A worker's health as JSON (docs/protocol.md): written by the worker, read by whoever probes it.
// Stateless.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/pool/gpu.h"

namespace navtalk {

// What a worker says of itself. A field that is missing in the JSON keeps its default.
struct WorkerHealth {
  struct Gpu {
    std::string name{};
    std::uint64_t vram_total = 0, vram_used = 0;  // bytes
    std::optional<double> util{};                 // 0..1
    std::optional<int> temperature_c{};
  };
  std::string version{};
  std::string instance{};    // random, of the process; empty: the worker gives none
  std::string state{};       // see scheduler/health/worker_protocol.h
  std::string device{};      // "cpu", "cuda:0"
  std::optional<Gpu> gpu{};  // missing: the worker reports none
  int slots = 0, sessions = 0;
  std::vector<std::string> avatars{};         // that are loaded
  std::vector<std::uint64_t> lease_epochs{};  // the highest epoch seen, by slot
  double uptime_s = 0;
};

nlohmann::ordered_json as_json(const WorkerHealth& health);
// nullopt when the text is not the health of a worker: not a JSON object, or one without state and
// slots.
std::optional<WorkerHealth> parse_worker_health(const std::string& body);
// What the pool keeps of it, without a time. nullopt on a CPU, whose worker reports the machine's memory, and
// for figures that cannot be.
std::optional<GpuReading> reading_of(const WorkerHealth& health);
// Why a healthy worker may still not be given sessions; nullopt: it may. A pod that was to have a
// GPU can come up without one.
std::optional<std::string> why_unready(const WorkerHealth& health, bool gpu_expected);

// Of {"error":{"code","message"}}; nullopt when the text is not such an object.
std::optional<std::string> worker_error(const std::string& body);
std::optional<std::string> worker_error_code(const std::string& body);

}  // namespace navtalk
