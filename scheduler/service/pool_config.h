// What the configuration says to the pool's parts.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/config/config.h"
#include "scheduler/pool/identity.h"
#include "scheduler/queue/allocator.h"
#include "scheduler/service/batch_lane.h"
#include "scheduler/service/pool_parts.h"

namespace navtalk {

// Whether pods may be created: the cloud is not off, and an image and a GPU type are configured.
bool has_cloud(const Config& config);
// Image and GPU types of Runpod are set.
bool uses_runpod(const Config& config);
// Is the cloud a Kubernetes cluster, and not Runpod?
bool uses_kubernetes(const Config& config);
// Adaptive: free_running_gpu is a ceiling only where somebody set it.
ScalingLimits scaling_limits(const ConfigReading& reading);
// The same with [[pool.schedule]] and [[pool.maintenance]].
std::shared_ptr<Timetable> timetable(const ConfigReading& reading);
// Without a URL; nullopt without a secret.
std::optional<WebhookTarget> webhook_target(const Config& config);
// nullopt without webhook.url. Error{invalid} without a secret.
std::optional<EventWebhookOptions> webhook_options(const Config& config,
                                                   const PoolIdentity& identity);
Budgets budgets(const Config& config);
// The devices on which this host runs local workers.
std::vector<std::string> local_devices(const Config& config);

// `who`: for events. The cloud is off where has_cloud() is false.
SupplyOptions supply_options(const ConfigReading& reading, const PoolIdentity& identity,
                             const std::string& who);
// `owner`: this_process().
AllocatorOptions allocator_options(const Config& config, const std::string& owner);
BatchLaneOptions batch_lane_options(const ConfigReading& reading, const std::string& who);
// Without a host: no local workers.
PoolOptions pool_options(const ConfigReading& reading, const PoolIdentity& identity,
                         const std::string& owner, const WorkerTokens& worker_tokens);

}  // namespace navtalk
