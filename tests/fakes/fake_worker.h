// A worker's HTTP side (docs/protocol.md) without a worker behind it. A handler for LoopbackServer;
// what it answers may be changed from any thread while it serves.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tests/fakes/loopback_server.h"

namespace navtalk::tests {

class FakeWorker {
 public:
  struct Script {
    std::string token{};         // empty: asks for none
    bool alive = true;           // false: 502 on every path, as a proxy without a pod answers
    bool stuck = false;          // healthz is 503
    std::string state = "idle";  // as healthz reports it
    std::string instance{};      // the same; empty: it reports none
    bool gpu = true;             // reports a GPU of 1 GiB, half loaded
    std::uint64_t vram_used = 1 << 20;   // bytes, as healthz reports it
    std::optional<int> temperature_c{};  // the same; nullopt: it reports none
    int slots = 1;
    std::uint64_t epoch = 0;      // the highest seen
    bool full = false;            // 503 for every session
    bool broken_upgrade = false;  // answers 101 with a wrong key
    std::optional<int> refuse{};  // this status for every POST
    // healthz is 502 until then
    std::chrono::steady_clock::time_point ready_at{};
  };

  void set(Script script);
  Script script() const;
  std::vector<ReceivedRequest> requests() const;
  void handle(Connection& client, const ReceivedRequest& request);

 private:
  void answer(Connection& client, const ReceivedRequest& request, const Script& script);
  void session(Connection& client, const ReceivedRequest& request, const Script& script);

  mutable std::mutex mutex_;
  Script script_;
  std::vector<ReceivedRequest> requests_;
};

// RFC 6455: the value of Sec-WebSocket-Accept for a key.
std::string websocket_accept_for(const std::string& key);

}  // namespace navtalk::tests
