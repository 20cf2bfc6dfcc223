// The front of the pool: users' live sessions (session/), the web page (pages/), the operator's
// routes, health and metrics. HTTP and WebSockets run on the thread that calls run(), calls of the store on a few
// threads of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/net/webhook.h"
#include "scheduler/cost/budget.h"
#include "scheduler/jobs/shares/tenant_store.h"
#include "scheduler/pool/identity.h"
#include "scheduler/pool/pool_store.h"
#include "scheduler/queue/allocator.h"
#include "scheduler/service/batch_lane.h"
#include "scheduler/store/transaction.h"
#include "server/gateway/access/access.h"
#include "server/gateway/jobs/input_rules.h"
#include "server/gateway/jobs/job_bucket.h"
#include "server/gateway/jobs/speech/speech_fetches.h"
#include "server/gateway/jobs/speech/speech_probe.h"
#include "server/gateway/pages/avatar_api.h"
#include "server/gateway/session/session_options.h"
#include "server/http/socket/tls_identity.h"

namespace navtalk::server {

// Offline renderings: the routes under /v1/jobs, and the slots that are lent to them.
struct JobOptions {
  std::shared_ptr<StoreBackend> backend;      // the pool's
  std::filesystem::path folder{};             // of uploads and results; made at first use
  std::shared_ptr<const JobBucket> bucket{};  // that gateways share; nullptr: none
  std::uint64_t max_upload = 100 << 20;       // bytes of one request
  TenantTermsTable tenants{};                 // of the configuration file
  BatchLaneOptions lane{};
  InputRuleOptions input{};
  SpeechFetchOptions fetches{};  // of audio_urls
  SpeechProbeOptions probe{};
  Duration keep{};  // jobs that are over; zero: for ever
  std::optional<WebhookTarget>
      webhook{};             // without the URL, which is each job's; nullopt: none is told
  Supply* supply = nullptr;  // the allocator's
  DemandTracker* demand_tracker = nullptr;
};

struct GatewayOptions {
  std::string listen = "127.0.0.1:2160";
  // Where operators have a port of their own, under the same rules; "": everything is on one port.
  std::string admin_listen{};
  std::string version{};
  PoolIdentity identity{};
  AccessOptions access{};
  std::shared_ptr<const TlsIdentity> tls{};  // nullptr: clear text
  bool allow_http = false;                   // beyond loopback: keys and speech in clear text
  // Connections from one address of another machine; 0: no bound of its own. Those of
  // session.trusted_proxies are not counted.
  std::size_t connections_per_address = 100;
  bool allow_http_workers = false;  // that are registered under /v1/pool
  Budgets budgets{};
  // What is wrong with the pool's loops, one sentence each. For /readyz; empty: they are not in
  // this process.
  std::function<std::vector<std::string>()> problems{};
  // How long sessions may go on after SIGTERM.
  std::chrono::milliseconds stop_notice{5'000};
  AvatarList avatars{};              // that users choose from
  std::optional<JobOptions> jobs{};  // nullopt: no offline renderings
  SessionOptions session{};
};

// What may change while a gateway runs.
struct GatewayChanges {
  AccessRules access{};                      // checked: Access::check()
  std::shared_ptr<const TlsIdentity> tls{};  // nullptr: as before
};

class Gateway {
 public:
  // Listens at once. Error{invalid} for an address beyond loopback without keys, or without TLS where
  // that is not allowed; Error{failed} when it is taken, or the keys cannot be read. Store and
  // allocator outlive the gateway.
  Gateway(PoolStore& store, Allocator& allocator, GatewayOptions options);
  ~Gateway();
  Gateway(const Gateway&) = delete;
  Gateway& operator=(const Gateway&) = delete;

  // "http://127.0.0.1:2160"
  std::string url() const;
  // The operators' own; "": there is none.
  std::string admin_url() const;
  // Whether requests need a key.
  bool keys_required() const;
  // From any thread. A gateway in clear text stays so.
  void apply(GatewayChanges changes);
  // Until a stop is requested: sessions get their notice, leases are released.
  void run(const std::stop_token& stop);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace navtalk::server
