#include "tests/fakes/fake_worker.h"

#include <openssl/evp.h>
#include <openssl/sha.h>

#include <nlohmann/json.hpp>

namespace navtalk::tests {
namespace {

using nlohmann::json;

void refuse(Connection& client, int status, const std::string& message) {
  const json body = {{"error", {{"code", "failed"}, {"message", message}}}};
  client.answer(status, body.dump(), {{"Content-Type", "application/json"}});
}

std::string health(const FakeWorker::Script& script) {
  json body = {{"version", "0.1.0"},
               {"state", script.state},
               {"device", script.gpu ? "cuda:0" : "cpu"},
               {"slots", script.slots},
               {"sessions", script.full ? script.slots : 0},
               {"avatars", {"ada"}},
               {"lease_epochs", {script.epoch}},
               {"uptime_s", 3.5},
               {"a_field_of_tomorrow", {{"x", 1}}}};
  if (script.gpu) {
    body["gpu"] = {{"name", "Fake GPU"},
                   {"vram_total", 1 << 30},
                   {"vram_used", script.vram_used},
                   {"util", 0.5}};
    if (script.temperature_c) body["gpu"]["temperature_c"] = *script.temperature_c;
  }
  if (!script.instance.empty()) body["instance"] = script.instance;
  return body.dump();
}

}  // namespace

std::string websocket_accept_for(const std::string& key) {
  const std::string text = key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  unsigned char digest[SHA_DIGEST_LENGTH];
  SHA1(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest);
  unsigned char out[64] = {};
  EVP_EncodeBlock(out, digest, sizeof digest);
  return reinterpret_cast<const char*>(out);
}

void FakeWorker::set(Script script) {
  const std::lock_guard lock(mutex_);
  script_ = std::move(script);
}

FakeWorker::Script FakeWorker::script() const {
  const std::lock_guard lock(mutex_);
  return script_;
}

std::vector<ReceivedRequest> FakeWorker::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

void FakeWorker::handle(Connection& client, const ReceivedRequest& request) {
  const Script now = [&] {
    const std::lock_guard lock(mutex_);
    requests_.push_back(request);
    return script_;
  }();
  if (!now.alive || std::chrono::steady_clock::now() < now.ready_at) {
    client.answer(502, "<html>502 Bad Gateway</html>", {{"Content-Type", "text/html"}});
  } else if (!now.token.empty() && request.header("authorization") != "Bearer " + now.token) {
    refuse(client, 401, "the token is not the pool's");
  } else if (request.header("x-navtalk-protocol") != "1") {
    refuse(client, 426, "this worker speaks protocol 1");
  } else {
    answer(client, request, now);
  }
}

void FakeWorker::answer(Connection& client, const ReceivedRequest& request, const Script& script) {
  if (request.path == "/healthz") {
    client.answer(script.stuck ? 503 : 200, health(script), {{"Content-Type", "application/json"}});
  } else if (request.path == "/v1/session") {
    session(client, request, script);
  } else if (request.method != "POST") {
    refuse(client, 404, "no such route");
  } else if (script.refuse) {
    refuse(client, *script.refuse, "refused by the script");
  } else {
    client.answer(request.path == "/v1/drain" ? 202 : 200, "{}");
  }
}

void FakeWorker::session(Connection& client, const ReceivedRequest& request, const Script& script) {
  if (request.header("upgrade") != "websocket") return refuse(client, 426, "this is a WebSocket");
  if (script.full) return refuse(client, 503, "every slot is taken");
  if (std::stoull("0" + request.query.at("epoch")) < script.epoch) {
    return refuse(client, 409, "the epoch is stale");
  }
  const std::string key = script.broken_upgrade ? "wrong" : request.header("sec-websocket-key");
  client.send(
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      "Sec-WebSocket-Accept: " +
      websocket_accept_for(key) + "\r\n\r\n");
  client.hold();
}

}  // namespace navtalk::tests
