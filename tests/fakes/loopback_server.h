// A real HTTP server on 127.0.0.1 for tests, scriptable down to the bytes: it can answer late, in
// pieces, never, with garbage, or reset the connection. The handler runs on one thread per
// connection, so it guards what it shares. Destroying the server ends every connection.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace navtalk::tests {

struct ReceivedRequest {
  std::string method, target, path;            // target = path?query
  std::map<std::string, std::string> query;    // percent-decoded
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
  int connection = 0;  // which connection of the server, from 1
  int ordinal = 0;     // which request on that connection, from 1

  std::string header(const std::string& name) const;  // empty: absent
};

// The server's end of one connection, in the handler's hands.
class Connection {
 public:
  explicit Connection(int fd) : fd_(fd) {}

  // Raw bytes, as they are. False when the client is gone.
  bool send(std::string_view bytes);
  // A whole answer with Content-Length (none for 204); further headers as given.
  bool answer(int status, std::string_view body = {},
              const std::vector<std::pair<std::string, std::string>>& headers = {});
  // True after `time`; false, and early, when the client went or the server ends.
  bool wait(std::chrono::milliseconds time);
  // Until the client goes or the server ends: the answer that never comes.
  void hold();
  // Ends the connection after the handler: in order, or with a TCP reset.
  void close() { open_ = false; }
  void reset();

  int fd() const { return fd_; }
  bool open() const { return open_; }

 private:
  int fd_;
  bool open_ = true;
};

class LoopbackServer {
 public:
  using Handler = std::function<void(Connection&, const ReceivedRequest&)>;
  // What to do with a fresh connection before any byte is read; false closes it.
  using Greeter = std::function<bool(Connection&)>;

  explicit LoopbackServer(Handler handler, Greeter greeter = {}, int port = 0);
  ~LoopbackServer();

  int port() const;
  std::string url(std::string_view path = "") const;  // http://127.0.0.1:PORT + path

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string percent_decoded(std::string_view text);

}  // namespace navtalk::tests
