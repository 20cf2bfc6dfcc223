// One HTTP/1.1 or HTTPS request at a time over libcurl, connections kept between requests.
// Redirects are not followed, compressed answers not asked for, nothing is repeated: a request that
// is not GET or HEAD reaches the server at most once. An answer 101 ends at its headers, and the
// connection is closed. TLS trusts what the system trusts, or a request's own file. One owner, one thread at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
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

struct HttpAnswer {
  int status = 0;
  std::multimap<std::string, std::string> headers{};  // names in lower case
  std::string body{};

  // The first header of that (lower-case) name.
  std::optional<std::string> header(std::string_view name) const;
};

// Who asks Amazon's S3, or a service like it. The secret signs the request (Signature Version 4) and
// is never sent.
struct AwsIdentity {
  std::string access_key{}, secret_key{};
  std::string session_token{};  // empty: the keys are lasting ones
  std::string region{};
};

// What TLS uses beside what the system trusts. Empty: nothing.
struct HttpTls {
  std::string ca_file{};                       // PEM; only what it holds is trusted then
  std::string certificate_file{}, key_file{};  // PEM; how this client shows who it is
  std::string ca{}, certificate{}, key{};      // the same as texts; each is used before its file
};

struct HttpRequest {
  std::string method = "GET";
  std::string url{};
  std::vector<std::pair<std::string, std::string>> headers{};  // User-Agent is always sent
  std::string body{};
  std::chrono::milliseconds connect_timeout{10'000};
  std::chrono::milliseconds timeout{30'000};  // of the whole exchange
  std::size_t max_answer = 16 << 20;          // bytes; a longer answer is a fault
  // A fault `timeout` when fewer bytes a second than `least_rate` move for so long; 0: only `timeout`
  // counts, which may be 0 here.
  std::chrono::seconds stall_timeout{0};
  long least_rate = 1;
  // Takes the body of an answer 200 to 299 in pieces, in their order, instead of HttpAnswer::body,
  // however long it is. `head` is the answer without its body. False ends the exchange with a fault.
  std::function<bool(const HttpAnswer& head, std::string_view bytes)> on_body{};
  // A file whose content is sent as the body, instead of `body`. Error{not_found}, Error{invalid}
  // from send() when it cannot be opened.
  std::filesystem::path body_file{};
  // Signs the request for S3. `body_sha256`: of the body, in lower-case hexadecimal digits.
  std::optional<AwsIdentity> aws{};
  std::string body_sha256{};
  // Connects to addresses of the public internet alone (core/net/public_address.h), whatever a name
  // resolves to, and through no proxy of the environment.
  bool only_public = false;
  HttpTls tls{};
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
