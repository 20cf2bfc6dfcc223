// Which handler answers which request. A table of (method, pattern); a pattern's "{name}" takes one
// part of the path. Guards check every request first, for authorization, by its header alone. Filled
// before the server starts, constant afterwards; handlers run on the I/O thread.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "server/http/body_room.h"
#include "server/http/message.h"
#include "server/http/socket/web_socket.h"

namespace navtalk::server {

using Handler = std::function<boost::asio::awaitable<Response>(const Request&)>;
// Accepts the upgrade and speaks until the session is over, or answers without accepting.
using SocketHandler =
    std::function<boost::asio::awaitable<std::optional<Response>>(const Request&, Upgrade&)>;
// An answer refuses the request, whose body has not been read yet.
using Guard = std::function<boost::asio::awaitable<std::optional<Response>>(const Request&)>;

// Of a route that takes longer bodies than others.
struct LongBodies {
  std::uint64_t bytes = 0;  // of one body
  // Of all those together that have more than 1 MiB; shorter ones are taken however full it is.
  std::shared_ptr<BodyRoom> room{};
  // Who has to answer for the room that a request takes, or why the request is refused.
  std::function<boost::asio::awaitable<std::variant<std::string, Response>>(const Request&)>
      owner{};
};

class Router {
 public:
  void guard(Guard guard);
  // The first of two routes that fit wins. GET's handler answers HEAD too.
  void on(std::string method, std::string pattern, Handler handler);
  // That route takes longer bodies, whose length is known beforehand.
  void take_long_bodies(const std::string& method, const std::string& pattern,
                        const LongBodies& bodies);
  std::uint64_t longest_body() const { return longest_body_; }
  void on_socket(std::string pattern, SocketHandler handler);
  // Headers that every answer carries.
  void header(std::string name, std::string value);
  // Sees every answer last, refusals included, and may add headers.
  void finish(std::function<void(const Request&, Response&)> finish);

  // Before its body is read: what a guard says against the request; 404, 405 and 426. nullopt: it is to
  // be answered.
  boost::asio::awaitable<std::optional<Response>> refuse(Request& request) const;
  // The answer of a request that was not refused, or nullopt when it became a WebSocket (which is over
  // then). Errors become answers.
  boost::asio::awaitable<std::optional<Response>> answer(Request& request, Upgrade& upgrade) const;

 private:
  struct Route {
    std::string method;
    std::vector<std::string> parts;
    Handler handler;
    SocketHandler socket;
    LongBodies bodies{};
  };
  const Route* find(Request& request, std::string& allowed) const;
  boost::asio::awaitable<std::optional<Response>> check(Request& request) const;
  boost::asio::awaitable<std::optional<Response>> dispatch(Request& request,
                                                           Upgrade& upgrade) const;
  // Whatever is thrown becomes an answer, and every answer carries the headers.
  boost::asio::awaitable<std::optional<Response>> answered(
      const Request& request, boost::asio::awaitable<std::optional<Response>> work) const;

  std::vector<Route> routes_;
  std::vector<Guard> guards_;
  std::vector<std::function<void(const Request&, Response&)>> finishers_;
  NamedValues headers_;
  std::uint64_t longest_body_ = 0;  // bytes
};

}  // namespace navtalk::server
