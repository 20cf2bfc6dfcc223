#include "cmd/pool_providers.h"

#include "cmd/pool_parts.h"
#include "runpod/provider.h"
#include "scheduler/external_provider.h"

namespace navtalk::cmd {

namespace {

runpod::ProviderOptions cloud_options(const Config& config, const PoolIdentity& identity) {
  const auto& cloud = config.runpod;
  runpod::ProviderOptions options;
  options.api.url = cloud.api_url;
  options.proxy_url = cloud.proxy_url;
  options.pool = identity.pool;
  options.pool_id = identity.id;
  options.list_prefix = identity.pool_prefix();
  options.wishes = {
      .gpu_types = cloud.gpu_types, .clouds = cloud.clouds, .data_centers = cloud.data_centers};
  options.image = cloud.image;
  options.disk_gb = cloud.disk_gb;
  if (config.pool.max_gpus > 0) options.max_pods = config.pool.max_gpus;
  return options;
}

// What the cap leaves for `gpu`, beside all other rows.
double left_for(const Gpu& gpu, PoolStore& store, double cap) {
  for (const Gpu& other : store.view().gpus) {
    if (other.id != gpu.id) cap -= other.usd_per_hour;
  }
  return cap;
}

}  // namespace

PoolProviders::PoolProviders(const Config& config, const PoolIdentity& identity,
                             const std::string& worker_token, PoolStore& store)
    : external_(std::make_unique<ExternalProvider>(worker_token)) {
  if (!has_cloud(config)) return;
  runpod::ProviderOptions options = cloud_options(config, identity);
  if (const double cap = config.pool.max_usd_per_hour; cap > 0) {
    options.budget = [&store, cap](const Gpu& gpu) { return left_for(gpu, store, cap); };
  }
  auto cloud = std::make_unique<runpod::Provider>(std::move(options),
                                                  runpod::read_api_key(config.runpod.api_key_file));
  cloud->learn_prices({});  // the cap counts what the next one will cost
  cloud_ = std::move(cloud);
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
