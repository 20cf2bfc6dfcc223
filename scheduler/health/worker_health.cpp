#include "scheduler/health/worker_health.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/text/lenient_json.h"
#include "core/text/printable.h"
#include "scheduler/health/worker_protocol.h"
#include "scheduler/pool/state.h"

namespace navtalk {
namespace {

using nlohmann::json;

std::uint64_t count_field(const json& object, const char* name) {
  return static_cast<std::uint64_t>(std::max(0LL, whole_field(object, name).value_or(0)));
}

// What cannot be measured was not.
std::optional<double> within(std::optional<double> value, double least, double most) {
  return value && *value >= least && *value <= most ? value : std::nullopt;
}

std::optional<int> temperature_of(const json& gpu) {
  const auto celsius = within(number_field(gpu, "temperature_c"), -100, 200);
  return celsius ? std::optional(static_cast<int>(std::lround(*celsius))) : std::nullopt;
}

std::optional<WorkerHealth::Gpu> parse_gpu(const json& health) {
  const json& gpu = object_field(health, "gpu");
  if (gpu.empty()) return std::nullopt;
  return WorkerHealth::Gpu{.name = text_field(gpu, "name").value_or(""),
                           .vram_total = count_field(gpu, "vram_total"),
                           .vram_used = count_field(gpu, "vram_used"),
                           .util = within(number_field(gpu, "util"), 0, 1),
                           .temperature_c = temperature_of(gpu)};
}

std::vector<std::uint64_t> parse_epochs(const json& health) {
  std::vector<std::uint64_t> epochs;
  for (const json& epoch : array_field(health, "lease_epochs"))
    epochs.push_back(epoch.is_number_unsigned() ? epoch.get<std::uint64_t>() : 0);
  return epochs;
}

nlohmann::ordered_json as_json(const WorkerHealth::Gpu& gpu) {
  nlohmann::ordered_json object = {
      {"name", gpu.name}, {"vram_total", gpu.vram_total}, {"vram_used", gpu.vram_used}};
  object["util"] = nullptr;
  if (gpu.util) object["util"] = *gpu.util;
  object["temperature_c"] = nullptr;
  if (gpu.temperature_c) object["temperature_c"] = *gpu.temperature_c;
  return object;
}

}  // namespace

nlohmann::ordered_json as_json(const WorkerHealth& health) {
  nlohmann::ordered_json object;
  object["version"] = health.version;
  object["protocol"] = k_worker_protocol;
  object["instance"] = health.instance;
  object["state"] = health.state;
  object["device"] = health.device;
  object["gpu"] = nullptr;
  if (health.gpu) object["gpu"] = as_json(*health.gpu);
  object["slots"] = health.slots;
  object["sessions"] = health.sessions;
  object["avatars"] = health.avatars;
  object["lease_epochs"] = health.lease_epochs;
  object["uptime_s"] = health.uptime_s;
  return object;
}

std::optional<WorkerHealth> parse_worker_health(const std::string& body) {
  const std::optional<json> parsed = parse_json(body);
  if (!parsed) return std::nullopt;
  const std::optional<std::string> state = text_field(*parsed, "state");
  const std::optional<long long> slots = whole_field(*parsed, "slots");
  if (!state || !slots) return std::nullopt;
  constexpr long long k_most = 1'000'000;  // more slots than any machine has: a slip
  return WorkerHealth{.version = text_field(*parsed, "version").value_or(""),
                      .instance = text_field(*parsed, "instance").value_or("").substr(0, 128),
                      .state = *state,
                      .device = text_field(*parsed, "device").value_or(""),
                      .gpu = parse_gpu(*parsed),
                      .slots = static_cast<int>(std::clamp(*slots, 0LL, k_most)),
                      .sessions = static_cast<int>(
                          std::clamp(whole_field(*parsed, "sessions").value_or(0), 0LL, k_most)),
                      .avatars = texts_field(*parsed, "avatars"),
                      .lease_epochs = parse_epochs(*parsed),
                      .uptime_s = number_field(*parsed, "uptime_s").value_or(0)};
}

std::optional<std::string> worker_error(const std::string& body) {
  const std::optional<json> parsed = parse_json(body);
  if (!parsed) return std::nullopt;
  const std::optional<std::string> message = text_field(object_field(*parsed, "error"), "message");
  if (!message) return std::nullopt;
  constexpr std::size_t k_longest = 500;  // bytes; it goes into logs and the pool's last_error
  return printable(message->substr(0, k_longest));
}

std::optional<std::string> worker_error_code(const std::string& body) {
  const std::optional<json> parsed = parse_json(body);
  return parsed ? text_field(object_field(*parsed, "error"), "code") : std::nullopt;
}

std::optional<GpuReading> reading_of(const WorkerHealth& health) {
  if (!health.gpu || health.device == "cpu") return std::nullopt;
  const WorkerHealth::Gpu& gpu = *health.gpu;
  if (gpu.vram_total == 0 || gpu.vram_used > gpu.vram_total) return std::nullopt;
  GpuReading reading{.memory_used = gpu.vram_used,
                     .memory_total = gpu.vram_total,
                     .temperature_c = gpu.temperature_c};
  if (gpu.util) reading.load_percent = static_cast<int>(std::lround(*gpu.util * 100));
  return reading;
}

std::optional<std::string> why_unready(const WorkerHealth& health, bool gpu_expected) {
  if (health.state != name(State::idle) && health.state != name(State::running)) {
    return "the worker is " + printable(health.state);
  }
  if (health.slots < 1) return "the worker has no slots";
  if (gpu_expected && (!health.gpu || health.gpu->name.empty() || health.gpu->vram_total == 0)) {
    return "the worker sees no GPU";
  }
  return std::nullopt;
}

}  // namespace navtalk
