// Many HTTP requests at once on one thread, over libcurl; the rules for one exchange are those of
// HttpClient. Connections are kept between requests. Thread-safe.
//
//   send(request, done) ──► queue ──► at most `at_once` under way ──► done(result), on the client's
//                                     each with its own timeout        thread
//
// A request that waits in the queue has not begun: its timeout counts from when it is sent. It counts
// the time in which the client's thread attends to its sockets (attended_clock.h): an answer that came in
// time is never too late because this process was.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "core/net/http_client.h"

namespace navtalk {

struct AsyncHttpOptions {
  // A quarter of the open files that the process may have; the rest is for others.
  static constexpr std::size_t k_share_of_open_files = 4;
  // Bounds, lowered to what the limit on open files leaves room for.
  std::size_t at_once = 2048;
  std::size_t kept_connections = 16'384;  // open ones, those under way included
};

class AsyncHttpClient {
 public:
  // Throws nothing, and does not block for long: it holds up all other answers.
  using Done = std::function<void(HttpResult)>;

  explicit AsyncHttpClient(AsyncHttpOptions options = {});
  // Gives up what has not ended: its `done` is not called.
  ~AsyncHttpClient();

  // Error{invalid} as HttpClient::send; `done` is then not called, else once.
  void send(HttpRequest request, Done done);
  // For good: ends what is under way or waits with a fault `stopped`, and all that comes later. Does not block.
  void stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace navtalk
