#include "runpod/candidates.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/text/number.h"
#include "core/text/printable.h"

namespace navtalk::runpod {
namespace {

using std::chrono::milliseconds;

const GpuOffer* offer_of(const Candidate& candidate, const Catalog& catalog) {
  const auto cloud = catalog.find(candidate.cloud);
  if (cloud == catalog.end()) return nullptr;
  for (const GpuOffer& offer : cloud->second) {
    if (offer.gpu_type == candidate.gpu_type) return &offer;
  }
  return nullptr;
}

double price_in(const GpuOffer& offer, const std::string& cloud) {
  return cloud == "COMMUNITY" ? offer.community_usd_per_hour : offer.secure_usd_per_hour;
}

Availability stock(const Candidate& candidate, const Catalog& catalog) {
  const GpuOffer* const offer = offer_of(candidate, catalog);
  if (offer == nullptr) return Availability::unknown;
  if (candidate.data_center.empty() || offer->data_centers.empty()) return offer->availability;
  const auto center = offer->data_centers.find(candidate.data_center);
  // The catalog lists the centres that have some.
  return center == offer->data_centers.end() ? Availability::none : center->second;
}

int rank(Availability availability) {
  switch (availability) {
    case Availability::high:
      return 0;
    case Availability::medium:
      return 1;
    case Availability::low:
    case Availability::unknown:
      return 2;
    case Availability::none:
      return 3;
  }
  return 3;
}

bool within_limit(const Candidate& candidate, const Preferences& preferences,
                  const Catalog& catalog) {
  const std::optional<double> usd = price(candidate, catalog);
  const auto within = [&](const std::string& name) {
    const auto limit = preferences.max_usd_per_hour.find(name);
    return limit == preferences.max_usd_per_hour.end() || (usd && *usd <= limit->second);
  };
  const std::string &type = candidate.gpu_type, &cloud = candidate.cloud;
  return within(type) && within(cloud) && within(describe({type, cloud}));
}

}  // namespace

std::pair<std::string, double> parse_price_limit(const std::string& text) {
  const std::size_t sign = text.rfind('=');
  const auto usd =
      sign == std::string::npos ? std::nullopt : parse_number<double>(text.substr(sign + 1));
  if (sign == 0 || !usd || !(*usd > 0) || *usd > 1e6) {
    throw Error(Code::invalid, "'" + printable(text) +
                                   "' is not a valid price limit: write a GPU type and dollars per "
                                   "hour, as in \"RTX 4090=0.80\"");
  }
  return {text.substr(0, sign), *usd};
}

std::string describe(const Candidate& candidate) {
  const std::string& center = candidate.data_center;
  return candidate.gpu_type + ", " + candidate.cloud + (center.empty() ? "" : ", " + center);
}

std::vector<Candidate> candidates(const Preferences& preferences, const Catalog& catalog) {
  std::vector<Candidate> all;
  const std::vector<std::string> anywhere{""};
  const auto& centers = preferences.data_centers.empty() ? anywhere : preferences.data_centers;
  for (const std::string& gpu_type : preferences.gpu_types) {
    const std::size_t first = all.size();
    for (const std::string& cloud : preferences.clouds) {
      for (const std::string& center : centers) all.push_back({gpu_type, cloud, center});
    }
    std::stable_sort(all.begin() + static_cast<std::ptrdiff_t>(first), all.end(),
                     [&](const Candidate& a, const Candidate& b) {
                       return rank(stock(a, catalog)) < rank(stock(b, catalog));
                     });
  }
  std::erase_if(all, [&](const Candidate& candidate) {
    return !within_limit(candidate, preferences, catalog);
  });
  std::stable_partition(all.begin(), all.end(), [&](const Candidate& candidate) {
    return stock(candidate, catalog) != Availability::none;
  });
  return all;
}

std::optional<double> price(const Candidate& candidate, const Catalog& catalog) {
  const GpuOffer* const offer = offer_of(candidate, catalog);
  if (offer == nullptr || price_in(*offer, candidate.cloud) <= 0) return std::nullopt;
  return price_in(*offer, candidate.cloud);
}

void Cooldowns::refused(const Candidate& candidate, Clock::time_point now) {
  Cooldown& cooldown = cooldowns_[candidate];
  milliseconds length = first_;
  for (int i = 0; i < cooldown.refusals && length < most_; ++i) length *= 2;
  cooldown.until = now + std::min(length, most_);
  ++cooldown.refusals;
}

void Cooldowns::accepted(const Candidate& candidate) { cooldowns_.erase(candidate); }

bool Cooldowns::cooling_down(const Candidate& candidate, Clock::time_point now) const {
  const auto cooldown = cooldowns_.find(candidate);
  return cooldown != cooldowns_.end() && now < cooldown->second.until;
}

milliseconds Cooldowns::wait(const std::vector<Candidate>& among, Clock::time_point now) const {
  std::optional<milliseconds> shortest;
  for (const Candidate& candidate : among) {
    const auto cooldown = cooldowns_.find(candidate);
    if (cooldown == cooldowns_.end() || cooldown->second.until <= now) return milliseconds(0);
    const auto left = std::chrono::ceil<milliseconds>(cooldown->second.until - now);
    shortest = std::min(shortest.value_or(left), left);
  }
  return shortest.value_or(milliseconds(0));
}

}  // namespace navtalk::runpod
