// Who may ask a gateway for what.
//
//   route                       without keys            with keys
//   /healthz, /readyz, a page   this machine            everyone
//   /v1/...                     this machine            a key of either role
//   /v1/realtime                this machine            a key of either role, or a browser token
//   /metrics                    this machine            a key of role admin, or the operator's key
//   /v1/pool...                 the operator's key      a key of role admin, or the operator's key
//
// Where operators have a port of their own, the other one has neither /metrics nor /v1/pool.
//
// A pool is one with keys once it has had a key. Of the I/O thread, except for the constructor, which
// reads the keys and blocks.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "scheduler/access/client_token.h"
#include "server/gateway/access/key_ring.h"
#include "server/gateway/access/offered_token.h"
#include "server/gateway/access/origins.h"
#include "server/gateway/access/permit.h"
#include "server/http/router.h"

namespace navtalk::server {

// What may change while the gateway runs.
struct AccessRules {
  std::string operator_key{};  // "": nobody has it
  TenantTable tenants{};
  std::vector<std::string> allow_origins{};
};

// Whether it is one of the operator's routes, /metrics or below /v1/pool.
bool is_for_operators(const Request& request);

struct AccessOptions {
  KeyStore* keys =
      nullptr;  // outlives the gateway; nullptr: a pool without keys and browser tokens
  // Of browser tokens: the same on all gateways of the pool. "": random, for a gateway alone.
  std::string token_secret{};
  AccessRules rules{};
};

struct AccessCounters {
  std::uint64_t refused_keys = 0;    // missing, unknown, expired or revoked, or of the wrong role
  std::uint64_t refused_tokens = 0;  // browser tokens
  std::uint64_t refused_origins = 0;
  std::uint64_t tenant_limits = 0;  // connections beyond a tenant's, which were refused
};

class Access {
 public:
  template <class T>
  using Awaitable = boost::asio::awaitable<T>;

  // Error{invalid} for rules that are not valid, Error{failed} when the keys cannot be read.
  Access(boost::asio::any_io_executor executor, BlockingThreads& threads, AccessOptions options);
  Access(const Access&) = delete;
  Access& operator=(const Access&) = delete;

  bool keys_required() const { return ring_.required(); }
  // The guard of all routes, and the answers to pages; they refer to this object.
  void add_guards(Router& router);
  // POST /v1/client-tokens, which refers to this object.
  void add_routes(Router& router);
  // Who sends a request that has passed the guards.
  Awaitable<std::variant<Principal, Response>> principal_of(const Request& request);
  // For a request of /v1/realtime, before its upgrade. A browser token is judged here, and taken by the
  // permit's `begin`.
  Awaitable<std::variant<SessionPermit, Response>> permit_session(const Request& request);

  // Error{invalid}: nothing has changed then.
  static void check(const AccessRules& rules) { Origins{rules.allow_origins}; }
  // What was checked. The keys are read again soon.
  void replace(const AccessRules& rules);
  // Called when keys may have been revoked.
  void on_revocation(std::function<void()> look);
  // Something changed in the pool's store.
  void note_change() { ring_.note_change(); }

  const AccessCounters& counters() const { return counters_; }
  Awaitable<void> run() { return ring_.run(); }
  void stop() { ring_.stop(); }

 private:
  using Judged = std::variant<Principal, Response>;

  Awaitable<std::optional<Response>> guard(const Request& request);
  std::optional<Response> guard_machine(const Request& request);
  Awaitable<Judged> authenticate(const Request& request);
  // A permit's question whether the key was revoked; it refers to this object.
  std::function<bool()> revocation_of(const Principal& who) const;
  Awaitable<Response> make_token(const Request& request);
  // --- client_tokens.cpp
  std::variant<SessionPermit, Response> permit_of_token(const Request& request,
                                                        const OfferedToken& offered);
  Awaitable<std::optional<StartRefusal>> take_token(const ClientToken& token);
  // The permit with a place among the tenant's connections, or beyond them.
  std::variant<SessionPermit, Response> seated(SessionPermit permit);
  // Beyond the limit, once it is known what the connection is for.
  std::shared_ptr<TenantSeat> take_late_seat(const TenantId& tenant);

  BlockingThreads& threads_;
  KeyStore* const keys_;
  const ClientTokenSigner signer_;
  KeyRing ring_;
  std::string operator_key_;
  int operator_keys_ = 1;  // that there have been
  std::function<void()> on_revocation_{};
  Tenants tenants_;
  Origins origins_;
  AccessCounters counters_{};
};

}  // namespace navtalk::server
