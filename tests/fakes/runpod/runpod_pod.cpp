#include "tests/fakes/runpod/runpod_pod.h"

#include <algorithm>
#include <array>
#include <ctime>

namespace navtalk::tests {
namespace {

using nlohmann::json;

FakeTime time_in(const json& value, const char* name, FakeTime fallback) {
  return FakeTime(value.value(name, fallback.count()));
}

json actions_in(const std::string& status) {
  if (status == "RUNNING") return {"stop", "restart", "terminate"};
  if (status == "EXITED" || status == "ERROR") return {"start", "terminate"};
  return {"stop", "terminate"};
}

json ports_row(int inside, const json& outside, const char* type, const char* ip) {
  return {{"private", inside}, {"public", outside}, {"type", type}, {"ip", ip}};
}

// The mapping of a TCP port changes with every start, and the old one is shown for a while.
int tcp_port(const FakePod& pod, FakeTime now) {
  const bool stale = pod.starts > 1 && now - pod.started < pod.life.stale_ports;
  return 10'000 + pod.starts - (stale ? 1 : 0);
}

// So long ago, to the second, as Runpod writes it.
std::string time_text(FakeTime ago) { return cloud_time_text("%Y-%m-%dT%H:%M:%SZ", ago); }

json runtime_of(const FakePod& pod, FakeTime now) {
  return {{"uptime", (now - pod.started).count() / 1000},
          {"ports",
           {ports_row(2160, nullptr, "http", "100.65.0.1"),
            ports_row(22, tcp_port(pod, now), "tcp", "192.0.2.1")}}};
}

}  // namespace

std::string cloud_time_text(const char* form, FakeTime ago) {
  const auto then = std::chrono::system_clock::now() + k_cloud_ahead - ago;
  const std::time_t seconds = std::chrono::system_clock::to_time_t(then);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 40> text{};
  std::strftime(text.data(), text.size(), form, &parts);
  return text.data();
}

PodLife life_from_json(const json& value, PodLife base) {
  base.starting_after = time_in(value, "starting_after_ms", base.starting_after);
  base.running_after = time_in(value, "running_after_ms", base.running_after);
  base.healthy_after = time_in(value, "healthy_after_ms", base.healthy_after);
  base.stuck = value.value("stuck", base.stuck);
  base.gpu = value.value("gpu", base.gpu);
  if (value.contains("exits_after_ms")) {
    const json& after = value.at("exits_after_ms");
    base.exits_after = after.is_null() ? std::nullopt : std::optional(FakeTime(after));
  }
  base.hidden = time_in(value, "hidden_ms", base.hidden);
  base.unlisted = value.value("unlisted", base.unlisted);
  base.unknown_id = time_in(value, "unknown_id_ms", base.unknown_id);
  base.unpriced = time_in(value, "unpriced_ms", base.unpriced);
  base.stale_ports = time_in(value, "stale_ports_ms", base.stale_ports);
  base.resume_refused = value.value("resume_refused", base.resume_refused);
  base.twice = value.value("twice", base.twice);
  base.status = value.value("status", base.status);
  base.odd_form = value.value("odd_form", base.odd_form);
  return base;
}

std::string FakePod::status(FakeTime now) const {
  if (removed) return "TERMINATED";
  if (!life.status.empty()) return life.status;
  if (stopped) return "EXITED";
  const FakeTime age = now - started;
  if (age < life.starting_after) return "PROVISIONING";
  if (life.stuck || age < life.running_after) return "STARTING";
  if (life.exits_after && age >= life.running_after + *life.exits_after) return "EXITED";
  return "RUNNING";
}

bool FakePod::serves(FakeTime now) const {
  return status(now) == "RUNNING" && now - started >= life.running_after + life.healthy_after;
}

FakeTime FakePod::paid(FakeTime now) const {
  FakeTime end = std::min(removed.value_or(now), stopped.value_or(now));
  if (life.exits_after) end = std::min(end, started + life.running_after + *life.exits_after);
  return paid_before + std::max(FakeTime(0), end - started);
}

json FakePod::shown(FakeTime now) const {
  const std::string status_now = status(now);
  const bool paid =
      status_now != "EXITED" && status_now != "TERMINATED" && now - created >= life.unpriced;
  json pod = {{"id", id},
              {"name", name()},
              {"status", status_now},
              {"actions", actions_in(status_now)},
              {"image", order.value("image", "")},
              {"args", order.value("args", "")},
              {"disk", order.value("disk", 20)},
              {"mounts", order.value("mounts", json::object())},
              {"ports", order.value("ports", json::array())},
              {"env", order.value("env", json::object())},
              {"registry", nullptr},
              {"cloud", order.value("cloud", "SECURE")},
              {"dataCenterId", nullptr},
              {"cudaVersion", "12.8"},
              {"ssh", {{"proxy", nullptr}, {"direct", nullptr}}},
              {"template", nullptr},
              {"cost", paid ? usd_per_hour : 0.0},
              {"locked", false},
              {"globalNetworking", {{"enabled", false}}},
              {"runtime", nullptr},
              {"createdAt", time_text(now - created)},
              {"startedAt", nullptr},
              {"gpu", {{"id", order.at("gpu").at("id")}, {"count", 1}}}};
  if (order.contains("dataCenterIds")) pod["dataCenterId"] = order.at("dataCenterIds").at(0);
  if (status_now == "RUNNING") pod["runtime"] = runtime_of(*this, now);
  if (life.odd_form) {
    pod["cost"] = std::to_string(usd_per_hour);
    pod["runtime"] = json::object();
    pod["aFieldOfTomorrow"] = {{"x", {1, 2}}};
  }
  return pod;
}

}  // namespace navtalk::tests
