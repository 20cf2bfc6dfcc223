// What the pool and its workers agree on (docs/protocol.md): the protocol's version, the headers of
// a request, and the words that an answer may hold. Stateless.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace navtalk {

inline constexpr int k_worker_protocol = 1;  // the major version

inline constexpr const char* k_protocol_header = "X-Navtalk-Protocol";
inline constexpr const char* k_protocol_header_lower_case = "x-navtalk-protocol";
// Whether the header's value ("1", "1.7") names this major version.
bool is_worker_protocol(std::string_view value);
// What every request to a worker carries: the version and, where there is one, the token.
std::vector<std::pair<std::string, std::string>> worker_request_headers(const std::string& token);

// A worker's state is the name of one of the pool's states (scheduler/pool/state.h), or this word:
// its work loop has missed its heartbeats.
inline constexpr std::string_view k_stuck = "stuck";

// Error codes of the fence: the worker has seen a newer lease on that slot.
inline constexpr std::string_view k_stale_epoch = "stale_epoch";  // when a session is asked for
inline constexpr std::string_view k_superseded = "superseded";    // when one was open

// The machine or its device has no memory for another session or job now; the worker is well.
inline constexpr std::string_view k_no_memory = "memory";

}  // namespace navtalk
