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

}  // namespace

PoolProviders::PoolProviders(const Config& config, const PoolIdentity& identity,
                             const std::string& worker_token)
    : external_(std::make_unique<ExternalProvider>(worker_token)) {
  if (!has_cloud(config)) return;
  cloud_ = std::make_unique<runpod::Provider>(cloud_options(config, identity),
                                              runpod::read_api_key(config.runpod.api_key_file));
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
