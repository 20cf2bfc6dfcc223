// What Runpod's REST API v2 says and wants to hear, as plain values. Reading is lenient: unknown
// fields and words, null or empty parts, numbers written as text. A pod's environment holds secrets
// in clear and is not read at all.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace navtalk::runpod {

enum class PodStatus {
  provisioning,
  starting,
  running,
  exited,
  error,
  terminated,
  unknown,  // a word that we do not know
};
PodStatus parse_status(std::string_view word);
std::string_view name(PodStatus status);

struct Pod {
  std::string id;  // never empty
  std::string name{};
  PodStatus status = PodStatus::unknown;
  std::string status_word{};  // as it came
  std::string gpu_type{};
  int gpu_count = 0;
  std::string cloud{}, data_center{};
  double usd_per_hour = 0;
  bool locked = false;
  bool has_runtime = false;  // the container has been seen running
  std::optional<std::chrono::system_clock::time_point> created_at{};  // by Runpod's clock
  std::optional<std::chrono::seconds> age{};  // by the same clock: at most, when it was listed
};

struct PodPage {
  std::vector<Pod> pods;
  std::string next_cursor{};  // empty: the last page
  bool whole = true;          // false: an entry could not be read
};

struct NewPod {
  std::string name{}, image{};
  std::string gpu_type{};
  int gpu_count = 1;          // always sent: without it every create fails
  std::string min_cuda{};     // "12.8"; empty: any
  std::string cloud{};        // SECURE, COMMUNITY
  std::string data_center{};  // empty: any
  int disk_gb = 1;
  std::vector<std::string> ports{};
  std::map<std::string, std::string> env{};
  std::string args{};      // empty: the image's own
  std::string registry{};  // id of stored credentials; empty: none
  std::string volume_id{}, volume_path{};
};

enum class Availability { none, low, medium, high, unknown };
Availability parse_availability(std::string_view word);

// One GPU type of the catalog, as asked for one cloud.
struct GpuOffer {
  std::string gpu_type;
  double secure_usd_per_hour = 0, community_usd_per_hour = 0;  // 0: not offered
  Availability availability = Availability::unknown;
  std::map<std::string, Availability> data_centers{};
};

// What one pod has cost within one bucket of time.
struct PodBill {
  std::string pod;
  double usd = 0;
  friend bool operator==(const PodBill&, const PodBill&) = default;
};

// What an error answer says: problem+json's detail and errors, v1's message or error, else empty.
struct Problem {
  std::string detail{};
  bool is_problem_json = false;  // by its form; false: not the API's own words
};

// nullopt: the text is not what it should be.
std::optional<Pod> parse_pod(const std::string& body);
std::optional<PodPage> parse_pods(const std::string& body);
std::optional<std::vector<GpuOffer>> parse_gpu_offers(const std::string& body);
std::optional<std::vector<PodBill>> parse_pod_bills(const std::string& body);
Problem parse_problem(const std::string& body);

std::string to_json(const NewPod& pod);
std::string action_json(std::string_view action);

}  // namespace navtalk::runpod
