// Client of a worker's HTTP side (docs/protocol.md): health, pause and wake. A call sends one request
// and never repeats it. One owner, one thread at a time; several clients may be used side by side.
//
// And two questions that any HTTP client may send: for a worker's health, and whether WebSockets reach
// it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "core/net/http_client.h"
#include "scheduler/health/worker_health.h"

namespace navtalk {

// Why a worker did not do what it was asked.
struct WorkerFault {
  enum class Kind : std::uint8_t {
    unreachable,  // no answer: broken, too late
    refused,      // the connection was refused: nobody listens there
    not_worker,   // somebody answered, but no worker: a proxy's 502, HTML
    sick,         // the worker answers that it is not well (503)
    denied,       // 401 or 403: another token
    protocol,     // 426: another version of the protocol
    busy,         // 409: it has sessions, or an epoch is stale
    failed,       // any other refusal of the worker
    stopped,      // a stop was asked
    shortage,     // this process had no descriptor or port for the question: nothing was asked
  } kind{};
  std::string message{};  // names the worker's host and port, holds no secret
};

using WorkerAnswer = std::variant<WorkerHealth, WorkerFault>;

struct WorkerClientOptions {
  std::chrono::milliseconds connect_timeout{5'000};
  std::chrono::milliseconds timeout{10'000};
  std::chrono::milliseconds load_timeout{120'000};  // pause and wake, which move weights
};

// One question for a worker's health, for whichever client sends it, and what its answer says. The
// timeout is that of connecting and answering together.
// Error{invalid} when the base URL is not valid.
HttpRequest health_request(const std::string& url, const std::string& token,
                           std::chrono::milliseconds timeout);
WorkerAnswer health_answer(const std::string& url, const HttpResult& result);

// The same for the upgrade to a WebSocket that would open a session. Epoch 0 is stale on every worker
// that has had a session. Error as health_request().
struct Handshake {
  HttpRequest request{};
  std::string accept{};  // what only a WebSocket server that read the request answers
};
Handshake handshake_with(const std::string& url, const std::string& token,
                         std::chrono::milliseconds timeout, const std::string& lease = "probe",
                         std::uint64_t epoch = 0);
// nullopt: the worker accepts the upgrade (the session is left at once), or refuses it in its own words
// because of the lease or its slots.
std::optional<WorkerFault> handshake_fault(const Handshake& handshake, const HttpResult& result);

class WorkerClient {
 public:
  explicit WorkerClient(std::string token, WorkerClientOptions options = {});

  // `url` is the worker's base URL, with or without a slash at its end. Error{invalid} when it is
  // not valid.
  WorkerAnswer health(const std::string& url, const std::stop_token& stop = {});
  // nullopt: done.
  std::optional<WorkerFault> pause(const std::string& url, const std::stop_token& stop = {});
  std::optional<WorkerFault> wake(const std::string& url, const std::stop_token& stop = {});

 private:
  HttpRequest request(const std::string& url, const std::string& path) const;
  std::optional<WorkerFault> post(const std::string& url, const std::string& path, std::string body,
                                  std::chrono::milliseconds timeout, const std::stop_token& stop);

  std::string token_;
  WorkerClientOptions options_;
  HttpClient http_;
};

}  // namespace navtalk
