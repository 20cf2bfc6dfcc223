// Where a pod may be created: GPU type x cloud x data centre. One create call tries one candidate. No
// code distinguishes "no capacity" from "invalid request", so candidates are tried in order, and each
// has a cooldown after a refusal. Pure; one owner.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "runpod/api/messages.h"
#include "runpod/api/rate_limit.h"

namespace navtalk::runpod {

struct Candidate {
  std::string gpu_type, cloud;
  std::string data_center{};  // empty: any

  friend bool operator<(const Candidate& a, const Candidate& b) {
    return std::tie(a.gpu_type, a.cloud, a.data_center) <
           std::tie(b.gpu_type, b.cloud, b.data_center);
  }
};
std::string describe(const Candidate& candidate);

struct Preferences {
  std::vector<std::string> gpu_types, clouds, data_centers;  // most preferred first; no centre: any
  // By "RTX 4090", "COMMUNITY" or "RTX 4090, COMMUNITY"; all that fit a candidate hold.
  std::map<std::string, double> max_usd_per_hour{};
};
// What the catalog says, by cloud; a missing cloud could not be read.
using Catalog = std::map<std::string, std::vector<GpuOffer>>;

// By GPU type as preferred; among one type by stock, then as preferred. Those without stock in the
// catalog come last: they are still tried, since the catalog may be late. A type with a limit is left out
// where the catalog has no price for it, or one above the limit.
std::vector<Candidate> candidates(const Preferences& preferences, const Catalog& catalog);
// "RTX 4090=0.80": what it limits, and the dollars per hour. Error{invalid} for another form.
std::pair<std::string, double> parse_price_limit(const std::string& text);
// Nullopt when the catalog does not know it.
std::optional<double> price(const Candidate& candidate, const Catalog& catalog);

// Candidates that refused are not asked for `first`, then twice as long each time, at most `most`.
class Cooldowns {
 public:
  Cooldowns(std::chrono::milliseconds first, std::chrono::milliseconds most)
      : first_(first), most_(most) {}

  void refused(const Candidate& candidate, Clock::time_point now);
  void accepted(const Candidate& candidate);
  bool cooling_down(const Candidate& candidate, Clock::time_point now) const;
  // Until the first of them may be tried again; zero: now, or there are none.
  std::chrono::milliseconds wait(const std::vector<Candidate>& among, Clock::time_point now) const;

 private:
  struct Cooldown {
    Clock::time_point until{};
    int refusals = 0;  // in a row
  };
  std::chrono::milliseconds first_, most_;
  std::map<Candidate, Cooldown> cooldowns_;
};

}  // namespace navtalk::runpod
