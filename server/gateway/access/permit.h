// Who asks, and what they may: what the rest of the gateway sees of keys and tokens. Plain values.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/base/time.h"
#include "scheduler/access/api_key.h"
#include "server/gateway/access/tenants.h"
#include "server/http/message.h"

namespace navtalk::server {

struct Principal {
  TenantId tenant{};  // "": a gateway without keys, or its operator
  Role role = Role::user;
  std::string key{};  // the id of its API key; "": none
};

// Why a session may not begin although its connection is open: an error's code and message.
struct StartRefusal {
  std::string code{}, message{};
};

// One connection that may have a session.
struct SessionPermit {
  Principal who{};
  TenantLimits limits{};
  std::shared_ptr<TenantSeat> seat{};  // held for as long as the connection is open
  // One within the tenant's limit, where `seat` is not; nullptr: there is still none.
  std::function<std::shared_ptr<TenantSeat>()> take_seat{};
  // To be asked once before a session begins, not before one goes on: takes the browser token.
  // Empty: there is nothing to ask.
  std::function<boost::asio::awaitable<std::optional<StartRefusal>>()> begin{};
  std::string avatar{};    // the only one that the session may have; "": its own choice
  Duration max_session{};  // from session.ready on; zero: no bound
  // Whether the key was revoked meanwhile that it rests on.
  std::function<bool()> revoked = [] { return false; };
  NamedValues answer{};  // headers of the upgrade's answer
};

}  // namespace navtalk::server
