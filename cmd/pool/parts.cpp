#include "cmd/pool/parts.h"

#include <pwd.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>

#include "core/config/keys.h"
#include "core/files/state_directory.h"
#include "core/process/identity.h"
#include "scheduler/health/worker_token.h"

namespace navtalk::cmd {
namespace {

bool is_set(const ConfigReading& reading, std::string_view key) {
  for (std::size_t i = 0; i < config_keys().size(); ++i) {
    if (config_keys()[i].full_name() == key) return reading.origins.at(i) != "default";
  }
  return false;
}

}  // namespace

std::unique_ptr<PoolStore> open_store(const Config& config) {
  if (!config.store.url.empty()) return PoolStore::open(config.store.url);
  return PoolStore::open("sqlite:" + (made_state_directory() / "pool.db").native());
}

PoolIdentity identity_of(PoolStore& store, const Config& config) {
  return pool_identity(store, config.runpod.name_prefix, config.pool.name);
}

ScalingLimits scaling_limits(const ConfigReading& reading) {
  using std::chrono::seconds;
  const auto& pool = reading.config.pool;
  const ScalingPolicy policy = parse_scaling_policy(pool.policy).value();
  ScalingLimits limits{.policy = policy,
                       .shadow = parse_scaling_policy(pool.shadow),
                       .min_free = pool.min_running_gpu,
                       .max_free = pool.free_running_gpu,
                       .wait_probability = pool.wait_probability,
                       .tick = seconds(pool.tick_s),
                       .hold_down = seconds(pool.hold_down_s),
                       .max_gpus = pool.max_gpus,
                       .max_creates_per_tick = pool.max_creates_per_tick,
                       .max_usd_per_hour = pool.max_usd_per_hour,
                       .cloud = has_cloud(reading.config) ? parse_cloud_switch(pool.cloud).value()
                                                          : CloudSwitch::off,
                       .failed_hold = seconds(pool.failed_hold_s),
                       .start_deadline = {seconds(reading.config.local.start_timeout_s),
                                          ScalingLimits{}.start_deadline[1],
                                          seconds(reading.config.runpod.ready_timeout_s)},
                       .max_pod_age = std::chrono::hours(reading.config.runpod.max_age_h),
                       .max_paused_cloud = reading.config.runpod.max_paused};
  if (policy == ScalingPolicy::adaptive && !is_set(reading, "pool.free_running_gpu"))
    limits.max_free.reset();
  return limits;
}

bool has_cloud(const Config& config) {
  return config.pool.cloud != "off" && !config.runpod.image.empty() &&
         !config.runpod.gpu_types.empty();
}

SupplyOptions supply_options(const PoolIdentity& identity, const ConfigReading& reading,
                             const std::string& who) {
  const Config& config = reading.config;
  return {
      .identity = identity,
      .who = who,
      .cloud = has_cloud(config) ? parse_cloud_switch(config.pool.cloud).value() : CloudSwitch::off,
      .cloud_slots = config.runpod.slots,
      .max_gpus = config.pool.max_gpus,
      .max_usd_per_hour = config.pool.max_usd_per_hour,
      .spare_slots = spare_slots(scaling_limits(reading))};
}

std::string worker_token_of(const Config& config) {
  const std::filesystem::path& file = config.pool.worker_token_file;
  if (!file.empty()) return pool_worker_token(file, false);
  return pool_worker_token(made_state_directory() / "worker-token", true);
}

std::string operator_name() {
  const passwd* user = getpwuid(geteuid());
  return "operator " + std::string(user == nullptr ? "?" : user->pw_name) + "@" + host_name();
}

bool wait_for(std::chrono::milliseconds time, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any asked;
  std::unique_lock lock(mutex);
  asked.wait_for(lock, stop, time, [] { return false; });
  return !stop.stop_requested();
}

}  // namespace navtalk::cmd
