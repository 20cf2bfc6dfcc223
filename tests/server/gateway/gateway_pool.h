// A gateway on a real store, with fake workers as processes of their own; and clients that do not
// behave.
#pragma once

#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/database/sqlite.h"
#include "scheduler/access/key_store.h"
#include "scheduler/forecast/demand_tracker.h"
#include "scheduler/provision/local/local_provider.h"
#include "scheduler/provision/supply.h"
#include "server/gateway/gateway.h"
#include "tests/scheduler/away_store.h"
#include "tests/server/http/client.h"
#include "tests/temporary_directory.h"

namespace navtalk::tests {

// How fake workers behave that start while it lives (tests/fakes/worker_program.cpp).
class Script {
 public:
  explicit Script(const char* json);
  ~Script();
};

// A pool without loops: rows are what the test makes them.
class GatewayPool {
 public:
  // `first_key`: is there before the gateway starts. Jobs, where there are any, are in the same store.
  explicit GatewayPool(AllocatorOptions allocation = {}, server::GatewayOptions gateway = {},
                       const std::optional<NewKey>& first_key = {});
  ~GatewayPool();

  // A fake worker, and its row: idle, or with another address.
  Gpu add_worker(int slots = 1);
  Gpu add_worker_of(const TenantId& tenant);
  // The fullest is claimed first; among equals the first one made.
  Gpu add_dead_worker() { return add_worker_at("http://127.0.0.1:1"); }
  Gpu add_worker_at(const std::string& url, const std::string& name = "");
  void kill_worker(const Gpu& gpu);
  // It does not run, but its connections stay; until it is let run, or the pool ends.
  void stop_worker(const Gpu& gpu, bool stop = true);
  // What it was asked (tests/fakes/worker_program.cpp).
  nlohmann::json asked_of(const Gpu& gpu) const;
  // The GPU of the only lease.
  Gpu leased();

  SocketClient connect() { return SocketClient(url(), "/v1/realtime"); }
  // As a reverse proxy passes a user of that address on.
  SocketClient connect_from(const std::string& address) {
    return SocketClient(url(), "/v1/realtime", {{"X-Forwarded-For", address}});
  }
  // A request with the operator's key.
  Got operate(const std::string& method, const std::string& path, const std::string& body = "",
              Headers headers = {}) const;
  std::string url() const { return gateway_->url(); }
  KeyStore& keys() { return *keys_; }
  const std::string& first_key() const { return text_of_first_key_; }
  server::Gateway& gateway() { return *gateway_; }
  PoolStore& store() { return *store_; }
  std::string store_url() const { return "sqlite:" + (folder_ / "pool.db").native(); }
  State state_of(const Gpu& gpu) { return store_->find(gpu.id)->state; }
  std::string last_error_of(const Gpu& gpu) { return store_->find(gpu.id)->last_error; }
  // The gateway's calls of the store fail from now on, or no longer.
  void set_away(bool away) { gateways_store_->set_away(away); }
  int failed_calls() const { return gateways_store_->failed(); }
  // Whether the gateway learns what it claims.
  void set_claims(AwayStore::Answers answers) { gateways_store_->set_claims(answers); }
  int renewals() const { return gateways_store_->renewals(); }
  // Another program's hold on the database: whatever writes to the store fails after its patience.
  std::unique_ptr<SqliteConnection> locked();
  void stop() { stop_.request_stop(); }
  bool ends();

 private:
  Gpu row();
  Gpu start(Gpu gpu);
  Gpu add(const Gpu& gpu);

  const TemporaryDirectory folder_;
  int rows_ = 0;
  std::unique_ptr<PoolStore> store_;
  std::optional<KeyStore> keys_;
  std::string text_of_first_key_;
  std::optional<AwayStore> gateways_store_;
  PoolIdentity identity_;
  std::optional<Supply> supply_;
  std::optional<DemandTracker> demand_tracker_;
  std::optional<Allocator> allocator_;
  LocalProvider provider_{
      {.program = NAVTALK_FAKE_WORKER_PROGRAM, .host = "here", .tokens = WorkerTokens("secret")}};
  std::vector<Gpu> started_;
  std::unique_ptr<server::Gateway> gateway_;
  std::stop_source stop_;
  std::future<void> running_;
};

inline const std::string k_start = R"({"type":"session.start","avatar":"ada"})";
inline const std::string k_mask(4, '\0');
inline const std::string k_operator_key = "a-key-of-these-tests";

// A WebSocket by hand.
void upgrade(RawClient& client);
std::string text_frame(const std::string& text);
void start_session(RawClient& client);

}  // namespace navtalk::tests
