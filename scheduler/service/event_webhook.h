// Tells an operator's HTTP endpoint of what has happened to the pool (core/net/webhook.h). At least once
// and in order: the number of the last event that was delivered, or concerns nobody, is in the store, so
// a restart, or another gateway, goes on there. One owner, one thread at a time.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "core/net/webhook.h"
#include "scheduler/pool/identity.h"
#include "scheduler/pool/pool_store.h"

namespace navtalk {

// "gpu.failed", "budget.reached", "cloud.refused", "outage.begun", "outage.over", "sessions.break".
const std::vector<std::string>& webhook_types();
// nullopt: nobody is told.
std::optional<std::string> webhook_type(const PoolEvent& event);

struct EventWebhookOptions {
  WebhookTarget target;
  std::vector<std::string> types{};  // empty: all
  PoolIdentity identity{};
  Duration give_up = std::chrono::hours(72);  // an event so old is passed over
};

class EventWebhook {
 public:
  EventWebhook(PoolStore& store, EventWebhookOptions options);

  // Delivers what is due; nothing while the delay after a failure lasts. The first step of a pool
  // delivers nothing: it begins with the events from then on. How many were delivered.
  int step(const std::stop_token& stop = {});

 private:
  bool tells(const PoolEvent& event) const;
  bool deliver(const PoolEvent& event, const std::stop_token& stop);

  PoolStore& store_;
  EventWebhookOptions options_;
  WebhookSender sender_;
  int failures_ = 0;  // in a row
  std::chrono::steady_clock::time_point due_{};
};

}  // namespace navtalk
