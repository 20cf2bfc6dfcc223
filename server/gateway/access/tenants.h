// What each tenant may do at this gateway, and what it does now. Of the I/O thread.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "scheduler/pool/gpu.h"
#include "server/http/socket/token_bucket.h"

namespace navtalk::server {

struct TenantLimits {
  int plan = 0;                   // higher is served first
  double weight = 1;              // share among tenants of one plan
  int max_sessions = 0;           // in the whole pool; 0: no bound
  int max_waiting = -1;           // in the pool's queue; below 0: no bound
  int max_connections = 0;        // WebSockets of this gateway; 0: no bound
  double max_messages_per_s = 0;  // of all its clients at this gateway; 0: no bound
};
using TenantTable = std::map<TenantId, TenantLimits>;

// One connection of a tenant, counted for as long as this lives.
class TenantSeat {
 public:
  struct Use {
    int connections = 0;
    int surplus = 0;  // connections beyond the limit
    std::optional<TokenBucket> messages{};
  };

  explicit TenantSeat(std::shared_ptr<Use> use, bool surplus = false)
      : use_(std::move(use)), surplus_(surplus) {
    ++count();
  }
  ~TenantSeat() { --count(); }
  TenantSeat(const TenantSeat&) = delete;
  TenantSeat& operator=(const TenantSeat&) = delete;

  // Beyond the limit: good for going on with a session, whose connection had a seat, and for nothing else.
  bool surplus() const { return surplus_; }
  // What all clients of the tenant may send together; nullptr: no bound. May change when others wait
  // for their turn.
  TokenBucket* messages() const { return use_->messages ? &*use_->messages : nullptr; }

 private:
  int& count() const { return surplus_ ? use_->surplus : use_->connections; }

  std::shared_ptr<Use> use_;
  bool surplus_;
};

class Tenants {
 public:
  explicit Tenants(TenantTable table) : table_(std::move(table)) {}

  // For those who come from now on, and the messages of all.
  void replace(TenantTable table);
  // Of one that the table does not name: the defaults.
  TenantLimits limits_of(const TenantId& tenant) const;
  // nullptr: it has as many connections as it may.
  std::shared_ptr<TenantSeat> take_seat(const TenantId& tenant);
  // Beyond its connections, as many again; nullptr: it has these too.
  std::shared_ptr<TenantSeat> take_surplus_seat(const TenantId& tenant);

 private:
  std::shared_ptr<TenantSeat::Use> use_of(const TenantId& tenant);
  static void bound_messages(TenantSeat::Use& use, const TenantLimits& limits);

  TenantTable table_;
  std::map<TenantId, std::weak_ptr<TenantSeat::Use>> uses_{};
};

}  // namespace navtalk::server
