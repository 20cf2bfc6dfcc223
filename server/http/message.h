// One HTTP request and its answer, as handlers see them: plain values, no library of ours or
// others.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"

namespace navtalk::server {

using NamedValues = std::vector<std::pair<std::string, std::string>>;

struct Request {
  std::string method{}, path{};  // path: percent-decoded, without the query
  NamedValues query{};           // decoded, in order
  NamedValues headers{};         // names in lower case
  NamedValues captures{};        // what stands for {id} in the route's pattern
  std::string body{};
  bool has_body = false;  // known before it is read
  bool upgrade = false;   // asks for a WebSocket
  std::string peer{};     // the address of whoever has connected, in numbers
  // Of a route that takes more than others (Router::take_long_bodies); 0: as the server.
  std::uint64_t body_limit = 0;
  std::shared_ptr<void> body_room{};  // held for as long as the body is in memory

  std::optional<std::string> header(std::string_view lower_case_name) const;
  std::optional<std::string> parameter(std::string_view name) const;  // of the query
  const std::string& capture(std::string_view name) const;            // "" when there is none
};

// A body that is not in memory: it is asked for piece by piece while it is sent.
struct LongBody {
  // Of all of it; nullopt: nobody knows, and the end of the connection ends it.
  std::optional<std::uint64_t> bytes{};
  // The piece after the last one; "" at an end that nobody knew, or when some is missing, which both
  // end the connection.
  std::function<boost::asio::awaitable<std::string>()> next{};
};

struct Response {
  int status = 200;
  std::string body{};
  std::string content_type = "application/json";
  NamedValues headers{};
  std::optional<LongBody> long_body{};  // in the place of `body`
};

Response json_response(int status, const nlohmann::ordered_json& body);
// {"error":{"code","message"}}
Response error_response(int status, std::string_view code, std::string_view message);
Response error_response(const Error& error);

// Fills path and query from a request target such as "/v1/session?lease=a&epoch=2"; false when it
// is malformed.
bool parse_target(std::string_view target, Request& request);

// The body as a JSON object ({} when it is empty); Error{usage} for anything else.
nlohmann::json json_body(const Request& request);

}  // namespace navtalk::server
