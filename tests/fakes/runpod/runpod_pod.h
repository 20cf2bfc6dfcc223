// One pod of the fake Runpod: how it lives after its creation, and how the API shows it. Pure; the
// fake's clock is passed in.
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace navtalk::tests {

using FakeTime = std::chrono::milliseconds;  // since the fake started

// How pods that are created from now on will live. Times count from the last start.
// The cloud's clock is not ours, and nothing may depend on that.
inline constexpr std::chrono::minutes k_cloud_ahead{17};
// By the cloud's clock, so long ago, as strftime writes it.
std::string cloud_time_text(const char* form, FakeTime ago = FakeTime(0));

struct PodLife {
  FakeTime starting_after{0}, running_after{0};  // PROVISIONING, STARTING, RUNNING
  FakeTime healthy_after{0};                     // 502 so long after RUNNING
  bool stuck = false;                            // STARTING for ever
  bool gpu = true;                               // false: its worker sees none
  std::optional<FakeTime> exits_after{};         // EXITED by itself, after RUNNING
  FakeTime hidden{0};                            // 404 and not listed so long after its creation
  bool unlisted = false;                         // lists lack it; by its id it is found
  FakeTime unknown_id{0};                        // listed, but 404 by its id so long
  FakeTime unpriced{0};     // shown with a cost of 0 so long after its creation
  FakeTime stale_ports{0};  // the old ports are shown so long after a start
  bool resume_refused = false;
  bool twice = false;     // every create makes two of the same name
  std::string status{};   // shown instead of the true one
  bool odd_form = false;  // cost as text, runtime {}, unknown fields
};
PodLife life_from_json(const nlohmann::json& value, PodLife base);

struct FakePod {
  std::string id;
  nlohmann::json order;  // the create's body
  PodLife life{};
  double usd_per_hour = 0;
  FakeTime created{}, started{};
  std::optional<FakeTime> stopped{}, removed{};
  FakeTime paid_before{0};  // up to the last start
  int starts = 1;

  std::string name() const { return order.value("name", ""); }
  bool visible(FakeTime now) const { return !removed && now - created >= life.hidden; }
  // PROVISIONING, STARTING, RUNNING, EXITED, TERMINATED, or what the script says.
  std::string status(FakeTime now) const;
  // Its worker would answer.
  bool serves(FakeTime now) const;
  // How long it has cost money: from its creation on, but not while it is EXITED.
  FakeTime paid(FakeTime now) const;
  nlohmann::json shown(FakeTime now) const;
};

}  // namespace navtalk::tests
