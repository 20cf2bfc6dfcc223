#include "cmd/pool/providers.h"

#include <algorithm>
#include <chrono>

#include "cmd/artifacts/model_store.h"
#include "core/base/error.h"
#include "core/log/log.h"
#include "kubernetes/kubernetes_provider.h"
#include "runpod/runpod_provider.h"
#include "scheduler/provision/clouds/several_clouds.h"
#include "scheduler/provision/external_provider.h"
#include "scheduler/provision/spending.h"
#include "scheduler/service/pool_config.h"

namespace navtalk::cmd {

namespace {

using namespace std::chrono_literals;

// Under a minute in all with two catalogs. A create that is answered later is found by its name.
void hurry(runpod::ApiOptions& api) {
  api.timeout = 10s;
  api.deadline = 15s;
  api.slow_timeout = api.slow_deadline = 20s;
  api.catalog_timeout = api.lookup_timeout = 4s;
}

runpod::ProviderOptions cloud_options(const Config& config, const PoolIdentity& identity,
                                      const WorkerTokens& worker_tokens, CloudPatience patience) {
  const auto& cloud = config.runpod;
  runpod::ProviderOptions options;
  if (patience == CloudPatience::timer) hurry(options.api);
  options.api.url = cloud.api_url;
  options.proxy_url = cloud.proxy_url;
  options.worker_tokens = worker_tokens;
  options.pool = identity.pool;
  options.pool_id = identity.id;
  options.preferences = {
      .gpu_types = cloud.gpu_types, .clouds = cloud.clouds, .data_centers = cloud.data_centers};
  for (const std::string& text : cloud.max_usd_per_type) {
    options.preferences.max_usd_per_hour.insert_or_assign(runpod::parse_price_limit(text).first,
                                                          runpod::parse_price_limit(text).second);
  }
  options.min_cuda = cloud.min_cuda;
  options.registry = cloud.registry;
  options.volume_id = cloud.volume;
  if (!cloud.volume.empty()) options.volume_path = cloud.volume_path;
  options.image = cloud.image;
  options.env = pod_variables(config);
  options.creates = config.pool.cloud != "off" && uses_runpod(config);
  options.allow_unknown_price = cloud.allow_unknown_price;
  options.disk_gb = cloud.disk_gb;
  if (config.pool.max_gpus > 0) options.max_pods = config.pool.max_gpus;
  return options;
}

std::unique_ptr<runpod::RunpodProvider> cloud_provider(const Config& config,
                                                       const PoolIdentity& identity,
                                                       const WorkerTokens& worker_tokens,
                                                       PoolStore& store, CloudPatience patience) {
  runpod::ProviderOptions options = cloud_options(config, identity, worker_tokens, patience);
  if (const double cap = config.pool.max_usd_per_hour; cap > 0) {
    options.cap = runpod::SpendingCap{
        .reserve =
            [&store, cap](const Gpu& gpu, double usd_per_hour) {
              return reserve_price(store, gpu, usd_per_hour, cap);
            },
        .seen = [&store](const std::string& type) { return remembered_price(store, type); }};
  }
  return std::make_unique<runpod::RunpodProvider>(std::move(options),
                                                  runpod::read_api_key(config.runpod.api_key_file));
}

kubernetes::ProviderOptions cluster_options(const Config& config, const PoolIdentity& identity,
                                            const WorkerTokens& worker_tokens,
                                            CloudPatience patience) {
  const auto& pods = config.kubernetes;
  kubernetes::ProviderOptions options{
      .cluster = kubernetes::cluster({.url = pods.api_url,
                                      .token_file = pods.token_file.native(),
                                      .tls = {.ca_file = pods.ca_file.native(),
                                              .certificate_file = pods.certificate_file.native(),
                                              .key_file = pods.key_file.native()},
                                      .name_space = pods.name_space},
                                     {pods.kubeconfig.native(), pods.context}),
      .worker_url = pods.worker_url,
      .pool_id = identity.id,
      .creates = config.pool.cloud != "off" && uses_kubernetes(config),
      .worker_tokens = worker_tokens,
      .schedule = std::chrono::seconds(pods.schedule_s),
      .usd_per_hour = pods.usd_per_hour};
  if (patience == CloudPatience::timer) {
    options.times = {.timeout = 10s, .deadline = 15s};
    options.schedule = std::min<std::chrono::milliseconds>(options.schedule, 15s);
  }
  options.pod = {.image = pods.image,
                 .gpu_resource = pods.gpu_resource,
                 .gpus = pods.gpus,
                 .image_pull_secrets = pods.image_pull_secrets,
                 .priority_class = pods.priority_class,
                 .runtime_class = pods.runtime_class};
  for (const std::string& text : pods.node_selector)
    options.pod.node_selector.insert(kubernetes::parse_node_label(text));
  for (const std::string& text : pods.tolerations)
    options.pod.tolerations.push_back(kubernetes::parse_toleration(text));
  if (!pods.owner.empty()) options.owner = kubernetes::parse_owner(pods.owner);
  if (config.pool.max_gpus > 0) options.max_pods = config.pool.max_gpus;
  return options;
}

std::unique_ptr<Provider> cluster_provider(const Config& config, const PoolIdentity& identity,
                                           const WorkerTokens& worker_tokens, PoolStore& store,
                                           CloudPatience patience) {
  auto options = cluster_options(config, identity, worker_tokens, patience);
  if (const double cap = config.pool.max_usd_per_hour; cap > 0) {
    options.reserve = [&store, cap](const Gpu& gpu, double usd_per_hour) {
      return reserve_price(store, gpu, usd_per_hour, cap);
    };
  }
  return std::make_unique<kubernetes::KubernetesProvider>(std::move(options));
}

std::ptrdiff_t rows_at(PoolStore& store, Origin cloud) {
  const std::vector<Gpu> gpus = store.view().gpus;
  return std::count_if(gpus.begin(), gpus.end(),
                       [&](const Gpu& gpu) { return origin_of(gpu) == cloud; });
}

// Without their cloud they would be taken for gone, and go on costing money.
void check_pods_of_cluster(const Config& config, PoolStore& store) {
  const auto pods = uses_kubernetes(config) ? 0 : rows_at(store, Origin::kubernetes);
  if (pods == 0) return;
  throw Error(Code::invalid,
              std::to_string(pods) +
                  " GPUs of the pool are pods of a Kubernetes cluster, and kubernetes.image is not "
                  "set: set it again, and remove them before the cluster is left");
}

// What is paid for is looked after whether the cloud is switched on or not: the switch is for
// creation alone. Without a key nobody can, and what needs no cloud goes on.
bool runpod_is_reached(const Config& config, PoolStore& store) {
  if (config.pool.cloud != "off" && uses_runpod(config)) return true;
  const auto pods = rows_at(store, Origin::runpod);
  const bool key = runpod::has_api_key(config.runpod.api_key_file);
  if (key) return pods > 0 || !uses_kubernetes(config);
  if (pods > 0) {
    log::error("pods at Runpod may go on costing money, and without an API key nobody can end them",
               {{"gpus", std::to_string(pods)}});
  }
  return false;
}

std::unique_ptr<Provider> reached_runpod(const Config& config, const PoolIdentity& identity,
                                         const WorkerTokens& worker_tokens, PoolStore& store,
                                         const std::stop_token& stop, CloudPatience patience) {
  if (!runpod_is_reached(config, store)) return nullptr;
  const bool creates = config.pool.cloud != "off" && uses_runpod(config);
  try {
    auto cloud = cloud_provider(config, identity, worker_tokens, store, patience);
    // The cap counts what the next one will cost.
    if (creates) cloud->learn_prices(stop);
    return cloud;
  } catch (const Error& error) {
    if (creates) throw;
    log::error("pods that the cloud has left cannot be looked after", {{"error", error.what()}});
    return nullptr;
  }
}

}  // namespace

PoolProviders::PoolProviders(const Config& config, const PoolIdentity& identity,
                             const WorkerTokens& worker_tokens, PoolStore& store,
                             std::shared_ptr<const Timetable> timetable,
                             const std::stop_token& stop, CloudPatience patience)
    : external_(std::make_unique<ExternalProvider>(worker_tokens)) {
  check_pods_of_cluster(config, store);
  std::vector<OneCloud> clouds;
  if (uses_kubernetes(config)) {
    clouds.push_back(
        {Origin::kubernetes, cluster_provider(config, identity, worker_tokens, store, patience)});
  }
  if (auto cloud = reached_runpod(config, identity, worker_tokens, store, stop, patience))
    clouds.push_back({Origin::runpod, std::move(cloud)});
  if (clouds.empty()) return;
  if (config.pool.cloud_first == "runpod") std::reverse(clouds.begin(), clouds.end());
  cloud_ = std::make_unique<SeveralClouds>(std::move(clouds), config.pool.cloud_first == "cheapest",
                                           [timetable = std::move(timetable)](Origin cloud) {
                                             return timetable->in_maintenance(cloud, "");
                                           });
}

std::vector<Provider*> PoolProviders::all() const {
  std::vector<Provider*> providers = {external_.get()};
  if (cloud_) providers.push_back(cloud_.get());
  return providers;
}

double PoolProviders::cloud_usd_per_hour() const {
  return cloud_ ? cloud_->expected_usd_per_hour() : 0;
}

}  // namespace navtalk::cmd
