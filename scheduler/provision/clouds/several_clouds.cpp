#include "scheduler/provision/clouds/several_clouds.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "core/base/check.h"
#include "core/log/log.h"

namespace navtalk {
namespace {

// A cloud in maintenance is asked again so soon.
constexpr Duration k_closed_for = std::chrono::minutes(1);

// What the clouds said that made nothing.
struct Refusals {
  std::string message{};
  std::optional<Duration> retry_after{};  // of those without capacity, the shortest
  bool all_of_accounts = true;

  void add(Origin cloud, const std::string& why) {
    if (!message.empty()) message += "; ";
    message += std::string(name(cloud)) + ": " + why;
  }
  Outcome outcome() const {
    if (retry_after) return NoCapacity{message, *retry_after};
    return Refused{message, all_of_accounts};
  }
};

Outcome no_such_cloud(const Gpu& gpu) {
  return Failure{gpu.id.text + " is at a cloud that is not configured: " + gpu.provider_id};
}

// Rows that count for a cloud: its own, and those that may become so.
std::vector<Gpu> rows_of(const std::vector<Gpu>& existing, Origin cloud) {
  std::vector<Gpu> rows;
  std::copy_if(existing.begin(), existing.end(), std::back_inserter(rows), [&](const Gpu& gpu) {
    const Origin origin = origin_of(gpu);
    return origin == cloud || origin == Origin::cloud;
  });
  return rows;
}

}  // namespace

SeveralClouds::SeveralClouds(std::vector<OneCloud> clouds, bool cheapest_first,
                             std::function<bool(Origin)> closed)
    : clouds_(std::move(clouds)), cheapest_first_(cheapest_first), closed_(std::move(closed)) {
  NAVTALK_CHECK(!clouds_.empty());
}

std::vector<const OneCloud*> SeveralClouds::in_order() const {
  std::vector<std::pair<double, const OneCloud*>> priced;
  for (const OneCloud& cloud : clouds_) {
    const double usd = cheapest_first_ ? cloud.provider->expected_usd_per_hour() : 0;
    priced.emplace_back(cheapest_first_ && usd <= 0 ? std::numeric_limits<double>::infinity() : usd,
                        &cloud);
  }
  std::stable_sort(priced.begin(), priced.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<const OneCloud*> order;
  order.reserve(priced.size());
  for (const auto& [usd, cloud] : priced) order.push_back(cloud);
  return order;
}

bool SeveralClouds::is_closed(const OneCloud& cloud) const {
  return closed_ && closed_(cloud.origin);
}

const OneCloud* SeveralClouds::cloud_of(const Gpu& gpu) const {
  const Origin origin = origin_of(gpu);
  const auto found = std::find_if(clouds_.begin(), clouds_.end(),
                                  [&](const OneCloud& cloud) { return cloud.origin == origin; });
  return found == clouds_.end() ? nullptr : &*found;
}

Outcome SeveralClouds::create(const Gpu& gpu, const std::stop_token& stop) {
  Refusals refusals;
  for (const OneCloud* cloud : in_order()) {
    if (stop.stop_requested()) {
      refusals.add(cloud->origin, "not asked, because of a stop");
      refusals.retry_after = Duration{};
      break;
    }
    if (is_closed(*cloud)) {
      refusals.add(cloud->origin, "a maintenance window");
      refusals.retry_after = std::min(refusals.retry_after.value_or(k_closed_for), k_closed_for);
      continue;
    }
    Outcome outcome = cloud->provider->create(gpu, stop);
    if (const auto* none = std::get_if<NoCapacity>(&outcome)) {
      refusals.add(cloud->origin, none->message);
      refusals.retry_after =
          std::min(refusals.retry_after.value_or(none->retry_after), none->retry_after);
    } else if (const auto* refused = std::get_if<Refused>(&outcome)) {
      refusals.add(cloud->origin, refused->message);
      refusals.all_of_accounts = refusals.all_of_accounts && refused->account;
    } else {
      if (!refusals.message.empty())
        log::info("another cloud was asked",
                  {{"cloud", name(cloud->origin)}, {"why", refusals.message}});
      return outcome;
    }
  }
  return refusals.outcome();
}

Outcome SeveralClouds::wake(const Gpu& gpu, const std::stop_token& stop) {
  const OneCloud* const cloud = cloud_of(gpu);
  return cloud == nullptr ? no_such_cloud(gpu) : cloud->provider->wake(gpu, stop);
}

Outcome SeveralClouds::pause(const Gpu& gpu, const std::stop_token& stop) {
  const OneCloud* const cloud = cloud_of(gpu);
  return cloud == nullptr ? no_such_cloud(gpu) : cloud->provider->pause(gpu, stop);
}

Outcome SeveralClouds::destroy(const Gpu& gpu, const std::stop_token& stop) {
  if (!gpu.provider_id.empty()) {
    const OneCloud* const cloud = cloud_of(gpu);
    return cloud == nullptr ? no_such_cloud(gpu) : cloud->provider->destroy(gpu, stop);
  }
  bool unknown = true;
  std::optional<Outcome> not_done;
  for (const OneCloud& cloud : clouds_) {
    Outcome outcome = cloud.provider->destroy(gpu, stop);
    if (const auto* done = std::get_if<Done>(&outcome)) {
      unknown = unknown && done->unknown;
    } else if (!not_done) {
      not_done = std::move(outcome);
    }
  }
  return not_done ? *std::move(not_done) : Done{.unknown = unknown};
}

Listing SeveralClouds::list(const std::stop_token& stop) {
  Listing all{.complete = true};
  for (const OneCloud& cloud : clouds_) {
    Listing one = cloud.provider->list(stop);
    if (one.complete) {
      std::move(one.instances.begin(), one.instances.end(), std::back_inserter(all.instances));
      continue;
    }
    all.complete = false;
    all.without.push_back(cloud.origin);
    all.message +=
        (all.message.empty() ? "" : "; ") + std::string(name(cloud.origin)) + ": " + one.message;
  }
  return all;
}

Lookup SeveralClouds::find(const Gpu& gpu, const std::stop_token& stop) {
  const OneCloud* const cloud = cloud_of(gpu);
  if (cloud == nullptr) return NoAnswer{"the cloud of " + gpu.provider_id + " is not configured"};
  return cloud->provider->find(gpu, stop);
}

void SeveralClouds::attend(const std::vector<Gpu>& gpus, const std::stop_token& stop) {
  for (const OneCloud& cloud : clouds_) cloud.provider->attend(gpus, stop);
}

// Every cloud is asked: one that is passed over would tell the same again.
bool SeveralClouds::changed() {
  bool any = false;
  for (const OneCloud& cloud : clouds_) any = cloud.provider->changed() || any;
  return any;
}

std::string SeveralClouds::place(const Gpu& gpu) const {
  const OneCloud* const cloud = cloud_of(gpu);
  return cloud == nullptr ? "" : cloud->provider->place(gpu);
}

int SeveralClouds::creatable(const std::vector<Gpu>& existing) const {
  int sum = 0;
  for (const OneCloud& cloud : clouds_)
    if (!is_closed(cloud)) sum += cloud.provider->creatable(rows_of(existing, cloud.origin));
  return sum;
}

double SeveralClouds::expected_usd_per_hour() const {
  const std::vector<const OneCloud*> order = in_order();
  const auto open = std::find_if(order.begin(), order.end(),
                                 [&](const OneCloud* cloud) { return !is_closed(*cloud); });
  return (open == order.end() ? order.front() : *open)->provider->expected_usd_per_hour();
}

}  // namespace navtalk
