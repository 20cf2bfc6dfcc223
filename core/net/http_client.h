// One HTTP/1.1 or HTTPS request at a time over libcurl, connections kept between requests.
// Redirects are not followed, compressed answers not asked for, nothing is repeated: a request that
// is not GET or HEAD reaches the server at most once. An answer 101 ends at its headers, and the
// connection is closed. TLS trusts what the system trusts, or a request's own file. One owner, one thread at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace navtalk {

// What TLS uses beside what the system trusts. Empty: nothing.
struct HttpTls {
  std::string ca_file{};                       // PEM; only what it holds is trusted then
  std::string certificate_file{}, key_file{};  // PEM; how this client shows who it is
};

struct HttpRequest {
  std::string method = "GET";
  std::string url{};
  std::vector<std::pair<std::string, std::string>> headers{};  // User-Agent is always sent
  std::string body{};
  std::chrono::milliseconds connect_timeout{10'000};
  std::chrono::milliseconds timeout{30'000};  // of the whole exchange
  std::size_t max_answer = 16 << 20;          // bytes; a longer answer is a fault
  HttpTls tls{};
};

struct HttpAnswer {
  int status = 0;
  std::multimap<std::string, std::string> headers{};  // names in lower case
  std::string body{};

  // The first header of that (lower-case) name.
  std::optional<std::string> header(std::string_view name) const;
};

// No answer, or not all of it. `sent`: the server may have acted on the request. A shortage is this
// process's own (core/base/shortage.h): nothing was sent, and it says nothing about the server.
struct HttpFault {
  enum class Kind { resolve, connect, tls, timeout, broken, too_long, stopped, shortage } kind{};
  bool sent = false;
  std::string message{};  // names host and port, never a secret
};

using HttpResult = std::variant<HttpAnswer, HttpFault>;

class HttpClient {
 public:
  HttpClient();
  ~HttpClient();
  HttpClient(HttpClient&&) noexcept;
  HttpClient& operator=(HttpClient&&) noexcept;

  // Error{invalid} for an invalid URL, or a header with a line break. A stop request ends the
  // exchange within 0.5 s.
  HttpResult send(const HttpRequest& request, const std::stop_token& stop = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace navtalk
