// Sends the pool's events to an operator's HTTP endpoint (core/net/webhook.h), in order and at least
// once. The store has the number of the last event that was delivered or skipped, so a restarted gateway,
// or another one, continues there. One owner, one thread at a time.
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
// nullopt: the event is not sent.
std::optional<std::string> webhook_type(const PoolEvent& event);

struct EventWebhookOptions {
  WebhookTarget target;
  std::vector<std::string> types{};  // empty: all
  PoolIdentity identity{};
  Duration give_up = std::chrono::hours(72);  // older events are skipped
};

class EventWebhook {
 public:
  EventWebhook(PoolStore& store, EventWebhookOptions options);

  // Delivers what is due, and returns how many events that were; none during the delay after a failure.
  // The first step of a pool delivers nothing: only events after it are sent.
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
