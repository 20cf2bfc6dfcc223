#include "scheduler/service/pool_config.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/config/keys.h"
#include "core/files/secret_file.h"
#include "core/net/url.h"
#include "core/process/identity.h"

namespace navtalk {
namespace {

using std::chrono::seconds;

bool is_set(const ConfigReading& reading, std::string_view key) {
  for (std::size_t i = 0; i < config_keys().size(); ++i) {
    if (config_keys()[i].full_name() == key) return reading.origins.at(i) != "default";
  }
  return false;
}

CloudSwitch cloud_switch(const Config& config) {
  return has_cloud(config) ? parse_cloud_switch(config.pool.cloud).value() : CloudSwitch::off;
}

// What both clouds have under the same names.
struct CloudNumbers {
  int slots, ready_timeout_s, max_age_h, max_paused, settle_s;
};

// 0 is no limit.
int lower_limit(int a, int b) { return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b); }

CloudNumbers cloud_numbers(const Config& config) {
  const auto& pods = config.kubernetes;
  const auto& runpod = config.runpod;
  if (uses_kubernetes(config) && uses_runpod(config)) {
    // A row has its slots before it has a cloud. Pods of a cluster cannot be paused.
    return {
        std::min(pods.slots, runpod.slots), std::max(pods.ready_timeout_s, runpod.ready_timeout_s),
        lower_limit(pods.max_age_h, runpod.max_age_h), 0, std::max(pods.settle_s, runpod.settle_s)};
  }
  if (uses_kubernetes(config))
    return {pods.slots, pods.ready_timeout_s, pods.max_age_h, 0, pods.settle_s};
  return {runpod.slots, runpod.ready_timeout_s, runpod.max_age_h, runpod.max_paused,
          runpod.settle_s};
}

}  // namespace

bool uses_kubernetes(const Config& config) { return !config.kubernetes.image.empty(); }

bool uses_runpod(const Config& config) {
  return !config.runpod.image.empty() && !config.runpod.gpu_types.empty();
}

bool has_cloud(const Config& config) {
  return config.pool.cloud != "off" && (uses_kubernetes(config) || uses_runpod(config));
}

ScalingLimits scaling_limits(const ConfigReading& reading) {
  const Config& config = reading.config;
  const auto& pool = config.pool;
  const ScalingPolicy policy = parse_scaling_policy(pool.policy).value();
  ScalingLimits limits{
      .policy = policy,
      .shadow = parse_scaling_policy(pool.shadow),
      .min_free = pool.min_running_gpu,
      .max_free = pool.free_running_gpu,
      .keep_free = config.jobs.keep_free,
      .wait_probability = pool.wait_probability,
      .tick = seconds(pool.tick_s),
      .hold_down = seconds(pool.hold_down_s),
      .max_gpus = pool.max_gpus,
      .max_creates_per_tick = pool.max_creates_per_tick,
      .max_usd_per_hour = pool.max_usd_per_hour,
      .cloud = cloud_switch(config),
      .failed_hold = seconds(pool.failed_hold_s),
      .start_deadline = {seconds(config.local.start_timeout_s), ScalingLimits{}.start_deadline[1],
                         seconds(cloud_numbers(config).ready_timeout_s)},
      .max_pod_age = std::chrono::hours(cloud_numbers(config).max_age_h),
      .max_paused_cloud = cloud_numbers(config).max_paused};
  const bool ceiling =
      policy == ScalingPolicy::static_limits || is_set(reading, "pool.free_running_gpu");
  if (!ceiling) limits.max_free.reset();
  return limits;
}

namespace {

// [pool] as it is while the entry holds. A key that the entry sets counts as set.
ScalingLimits scheduled_limits(const ConfigReading& reading, const ScheduleConfig& entry) {
  ConfigReading changed = reading;
  auto& pool = changed.config.pool;
  const auto set = [](int& key, int value) {
    if (value >= 0) key = value;
  };
  set(pool.min_running_gpu, entry.min_running_gpu);
  set(pool.free_running_gpu, entry.free_running_gpu);
  set(pool.max_gpus, entry.max_gpus);
  if (!entry.policy.empty()) pool.policy = entry.policy;
  ScalingLimits limits = scaling_limits(changed);
  if (entry.free_running_gpu >= 0) limits.max_free = entry.free_running_gpu;
  return limits;
}

MaintenanceWindow maintenance_window(const MaintenanceConfig& entry) {
  MaintenanceWindow window{
      .name = entry.name,
      .window = RecurringWindow::parse(entry.time_zone, entry.start, entry.end),
      .ahead = std::chrono::minutes(entry.drain_ahead_min),
      .hosts = entry.hosts};
  for (const std::string& provider : entry.providers) {
    window.origins.push_back(parse_origin(provider).value());
  }
  return window;
}

}  // namespace

std::shared_ptr<Timetable> timetable(const ConfigReading& reading) {
  std::vector<ScheduledLimits> schedule;
  for (const ScheduleConfig& entry : reading.config.schedules) {
    schedule.push_back({.name = entry.name,
                        .window = RecurringWindow::parse(entry.time_zone, entry.start, entry.end),
                        .limits = scheduled_limits(reading, entry)});
  }
  std::vector<MaintenanceWindow> maintenance;
  for (const MaintenanceConfig& entry : reading.config.maintenance) {
    maintenance.push_back(maintenance_window(entry));
  }
  std::vector<Origin> clouds;
  if (uses_kubernetes(reading.config)) clouds.push_back(Origin::kubernetes);
  if (clouds.empty() || uses_runpod(reading.config)) clouds.push_back(Origin::runpod);
  return std::make_shared<Timetable>(scaling_limits(reading), std::move(schedule),
                                     std::move(maintenance), Timetable::system_clock_now,
                                     std::move(clouds));
}

std::optional<WebhookTarget> webhook_target(const Config& config) {
  const auto& webhook = config.webhook;
  WebhookTarget target{
      .secret = read_secret({.name = "webhook's secret", .variable = "NAVTALK_SIGNING_SECRET"},
                            webhook.secret_file),
      .allow_private = webhook.allow_private};
  return target.secret.empty() ? std::nullopt : std::optional(target);
}

std::optional<EventWebhookOptions> webhook_options(const Config& config,
                                                   const PoolIdentity& identity) {
  const auto& webhook = config.webhook;
  if (webhook.url.empty()) return std::nullopt;
  std::optional<WebhookTarget> target = webhook_target(config);
  if (!target) throw Error(Code::invalid, "webhook.url needs a secret: set webhook.secret_file");
  parse_http_url(webhook.url);
  target->url = webhook.url;
  return EventWebhookOptions{.target = *target, .types = webhook.events, .identity = identity};
}

Budgets budgets(const Config& config) {
  return {.usd_per_day = config.pool.budget_usd_per_day,
          .usd_per_month = config.pool.budget_usd_per_month};
}

std::vector<std::string> local_devices(const Config& config) {
  if (config.local.devices == std::vector<std::string>{"none"}) return {};
  if (!config.local.devices.empty()) return config.local.devices;
  return {"cpu"};  // a build with CUDA will look for its devices here
}

SupplyOptions supply_options(const ConfigReading& reading, const PoolIdentity& identity,
                             const std::string& who) {
  const Config& config = reading.config;
  return {.identity = identity,
          .who = who,
          .cloud = cloud_switch(config),
          .cloud_slots = cloud_numbers(config).slots,
          .max_gpus = config.pool.max_gpus,
          .max_usd_per_hour = config.pool.max_usd_per_hour,
          .timetable = timetable(reading),
          .spare_slots = spare_slots(scaling_limits(reading))};
}

AllocatorOptions allocator_options(const Config& config, const std::string& owner) {
  return {.gateway = owner,
          .host = host_name(),
          .queue_limit = static_cast<std::size_t>(config.pool.queue_limit),
          .queue_timeout = seconds(config.pool.queue_timeout_s),
          .lease = seconds(config.pool.lease_s)};
}

BatchLaneOptions batch_lane_options(const ConfigReading& reading, const std::string& who) {
  const ScalingLimits limits = scaling_limits(reading);
  return {.who = who,
          .max_gpus = reading.config.jobs.max_gpus,
          .reserve = std::max(limits.min_free - reading.config.jobs.keep_free, 0),
          .keep_free = reading.config.jobs.keep_free,
          .local_slots = static_cast<int>(local_devices(reading.config).size()) *
                         reading.config.local.slots_per_device,
          .grows_at = has_cloud(reading.config) ? Source::cloud : Source::local,
          .failed_hold = limits.failed_hold,
          .hold = limits.hold_down};
}

PoolOptions pool_options(const ConfigReading& reading, const PoolIdentity& identity,
                         const std::string& owner, const WorkerTokens& worker_tokens) {
  const Config& config = reading.config;
  return {.owner = owner,
          .identity = identity,
          .worker_tokens = worker_tokens,
          .limits = scaling_limits(reading),
          .timetable = timetable(reading),
          .budgets = budgets(config),
          .webhook = webhook_options(config, identity),
          .cloud_slots = cloud_numbers(config).slots,
          .consistency_window = seconds(cloud_numbers(config).settle_s),
          .lease = seconds(config.pool.lease_s)};
}

}  // namespace navtalk
