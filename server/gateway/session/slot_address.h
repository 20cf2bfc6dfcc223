// Where the worker of a lease takes what the lease is for. Stateless.
#pragma once

#include <string>
#include <string_view>

#include "scheduler/health/worker_tokens.h"
#include "scheduler/pool/session.h"
#include "server/http/socket/web_socket.h"

namespace navtalk::server {

// `path`: "/v1/session" or "/v1/job". Error{invalid} for a worker's URL that is not usable.
WebSocket::Address slot_address(const Lease& lease, const WorkerTokens& tokens,
                                std::string_view path);
// The worker's own words; a proxy's answer has none that are worth keeping.
std::string words_of(const WebSocket::Declined& declined);

}  // namespace navtalk::server
