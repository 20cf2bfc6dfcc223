#include "scheduler/health/worker_client.h"

#include <openssl/evp.h>
#include <openssl/rand.h>

#include <array>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/net/url.h"
#include "core/text/percent.h"
#include "scheduler/health/worker_protocol.h"

namespace navtalk {
namespace {

constexpr std::size_t k_max_answer = 1 << 20;  // bytes
constexpr const char* k_health = "/healthz";

std::string base64(const unsigned char* bytes, int size) {
  std::string text(static_cast<std::size_t>((size + 2) / 3 * 4) + 1, '\0');
  auto* const out = reinterpret_cast<unsigned char*>(text.data());
  text.resize(static_cast<std::size_t>(EVP_EncodeBlock(out, bytes, size)));
  return text;
}

std::string websocket_key() {
  std::array<unsigned char, 16> nonce{};
  if (RAND_bytes(nonce.data(), nonce.size()) != 1) {
    throw Error(Code::failed, "the system gives no random bytes");
  }
  return base64(nonce.data(), nonce.size());
}

// RFC 6455, 4.2.2: what only a WebSocket server that read this key answers.
std::string websocket_accept(const std::string& key) {
  const std::string text = key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  if (EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha1(), nullptr) != 1) {
    throw Error(Code::failed, "OpenSSL offers no SHA-1, which WebSockets need");
  }
  return base64(digest.data(), static_cast<int>(size));
}

std::string joined(const std::string& url, const std::string& path) {
  return (url.ends_with('/') ? url.substr(0, url.size() - 1) : url) + path;
}

WorkerFault fault_of(const HttpFault& fault) {
  switch (fault.kind) {
    case HttpFault::Kind::stopped:
      return {WorkerFault::Kind::stopped, fault.message};
    case HttpFault::Kind::shortage:
      return {WorkerFault::Kind::shortage, fault.message};
    case HttpFault::Kind::connect:
      return {WorkerFault::Kind::refused, fault.message};
    default:
      return {WorkerFault::Kind::unreachable, fault.message};
  }
}

WorkerFault fault_of(const HttpAnswer& answer, const std::string& authority) {
  using enum WorkerFault::Kind;
  const std::optional<std::string> message = worker_error(answer.body);
  const std::string status = std::to_string(answer.status);
  // A proxy's answers have the same statuses, but not the worker's form.
  if (!message) return {not_worker, authority + ": not a worker's answer (HTTP " + status + ")"};
  const WorkerFault::Kind kind = answer.status == 401 || answer.status == 403 ? denied
                                 : answer.status == 409                       ? busy
                                 : answer.status == 426                       ? protocol
                                 : answer.status == 503                       ? sick
                                                                              : failed;
  return {kind, authority + ": " + *message + " (HTTP " + status + ")"};
}

// How a worker took an upgrade to a WebSocket.
std::optional<WorkerFault> judged(const HttpAnswer& answer, const std::string& authority,
                                  const std::string& accept) {
  if (answer.status == 101) {
    if (answer.header("sec-websocket-accept") == accept) return std::nullopt;
    return WorkerFault{WorkerFault::Kind::not_worker, authority + ": a wrong WebSocket handshake"};
  }
  if (answer.status == 200) {
    return WorkerFault{WorkerFault::Kind::not_worker,
                       authority + ": WebSockets do not come through"};
  }
  const WorkerFault fault = fault_of(answer, authority);
  // Stale or full: it read the upgrade, and it is the worker.
  const bool own_words =
      fault.kind == WorkerFault::Kind::busy || fault.kind == WorkerFault::Kind::sick;
  return own_words ? std::nullopt : std::optional(fault);
}

HttpRequest worker_request(std::string url, const std::string& token,
                           std::chrono::milliseconds connect_timeout,
                           std::chrono::milliseconds timeout) {
  HttpRequest result{.url = std::move(url),
                     .headers = worker_request_headers(token),
                     .connect_timeout = connect_timeout,
                     .timeout = timeout,
                     .max_answer = k_max_answer};
  result.headers.emplace_back("Accept", "application/json");
  return result;
}

}  // namespace

HttpRequest health_request(const std::string& url, const std::string& token,
                           std::chrono::milliseconds timeout) {
  return worker_request(joined(url, k_health), token, timeout, timeout);
}

WorkerAnswer health_answer(const std::string& url, const HttpResult& result) {
  if (const auto* fault = std::get_if<HttpFault>(&result)) return fault_of(*fault);
  const auto& answer = std::get<HttpAnswer>(result);
  const std::string authority = parse_http_url(url).authority();
  const std::optional<WorkerHealth> health = parse_worker_health(answer.body);
  if (answer.status == 200 && health) return *health;
  if (answer.status == 503 && health) {
    return WorkerFault{
        WorkerFault::Kind::sick,
        authority + ": " + worker_error(answer.body).value_or("its work loop is stuck")};
  }
  return fault_of(answer, authority);
}

Handshake handshake_with(const std::string& url, const std::string& token,
                         std::chrono::milliseconds timeout, const std::string& lease,
                         std::uint64_t epoch) {
  const std::string key = websocket_key();
  const std::string path =
      "/v1/session?lease=" + percent_encoded(lease) + "&epoch=" + std::to_string(epoch);
  Handshake handshake{.request = worker_request(joined(url, path), token, timeout, timeout),
                      .accept = websocket_accept(key)};
  for (const auto& header :
       std::vector<std::pair<std::string, std::string>>{{"Connection", "Upgrade"},
                                                        {"Upgrade", "websocket"},
                                                        {"Sec-WebSocket-Version", "13"},
                                                        {"Sec-WebSocket-Key", key}}) {
    handshake.request.headers.push_back(header);
  }
  return handshake;
}

std::optional<WorkerFault> handshake_fault(const Handshake& handshake, const HttpResult& result) {
  if (const auto* fault = std::get_if<HttpFault>(&result)) return fault_of(*fault);
  return judged(std::get<HttpAnswer>(result), parse_http_url(handshake.request.url).authority(),
                handshake.accept);
}

WorkerClient::WorkerClient(std::string token, WorkerClientOptions options)
    : token_(std::move(token)), options_(options) {}

HttpRequest WorkerClient::request(const std::string& url, const std::string& path) const {
  return worker_request(joined(url, path), token_, options_.connect_timeout, options_.timeout);
}

WorkerAnswer WorkerClient::health(const std::string& url, const std::stop_token& stop) {
  return health_answer(url, http_.send(request(url, k_health), stop));
}

std::optional<WorkerFault> WorkerClient::post(const std::string& url, const std::string& path,
                                              std::string body, std::chrono::milliseconds timeout,
                                              const std::stop_token& stop) {
  HttpRequest asked = request(url, path);
  asked.method = "POST";
  asked.headers.emplace_back("Content-Type", "application/json");
  asked.body = std::move(body);
  asked.timeout = timeout;
  const HttpResult result = http_.send(asked, stop);
  if (const auto* fault = std::get_if<HttpFault>(&result)) return fault_of(*fault);
  const auto& answer = std::get<HttpAnswer>(result);
  if (answer.status >= 200 && answer.status < 300) return std::nullopt;
  return fault_of(answer, parse_http_url(asked.url).authority());
}

std::optional<WorkerFault> WorkerClient::pause(const std::string& url,
                                               const std::stop_token& stop) {
  return post(url, "/v1/pause", "{}", options_.load_timeout, stop);
}

std::optional<WorkerFault> WorkerClient::wake(const std::string& url, const std::stop_token& stop) {
  return post(url, "/v1/wake", "{}", options_.load_timeout, stop);
}

}  // namespace navtalk
