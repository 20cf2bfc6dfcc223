// The providers that any process may use: registered workers, and the cloud where it is configured
// or an API key is at hand: pods that are there are destroyed also after the cloud was switched
// off. Local workers belong to `navtalk serve`.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "core/config/config.h"
#include "scheduler/health/worker_tokens.h"
#include "scheduler/pool/identity.h"
#include "scheduler/pool/pool_store.h"
#include "scheduler/pool/schedule/timetable.h"
#include "scheduler/provision/provider.h"

namespace navtalk::cmd {

// How long calls to the cloud may take. `timer`: short enough for a process that runs every minute, even
// where no call is answered: list and catalog, then a create that asks for the catalog again.
enum class CloudPatience : std::uint8_t { usual, timer };

class PoolProviders {
 public:
  // Error{invalid}: the cloud is configured and has no usable key. The store, which must outlive
  // this, tells what the cap on spending leaves. `timetable`: a cloud in maintenance makes nothing.
  PoolProviders(const Config& config, const PoolIdentity& identity,
                const WorkerTokens& worker_tokens, PoolStore& store,
                std::shared_ptr<const Timetable> timetable, const std::stop_token& stop,
                CloudPatience patience = CloudPatience::usual);

  std::vector<Provider*> all() const;
  // What the next cloud GPU is expected to cost by what is known now; 0 without a cloud.
  double cloud_usd_per_hour() const;

 private:
  std::unique_ptr<Provider> external_, cloud_;
};

}  // namespace navtalk::cmd
