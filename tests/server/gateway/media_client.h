// A user of a session with media (the fake worker's "media"), who checks what always holds: the numbers
// and the times of each kind go up.
#pragma once

#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "server/protocol/media_frame.h"
#include "tests/server/gateway/gateway_pool.h"

namespace navtalk::tests {

// A worker's script: small pictures.
inline constexpr const char* k_media = R"({"media": 2000})";

inline std::string start_with(const std::string& token) {
  return R"({"type":"session.start","resume_token":")" + token + R"("})";
}

// What a user has received, over all connections.
struct Received {
  std::map<server::MediaKind, server::MediaHeader> last{};
  std::map<server::MediaKind, std::uint64_t> missing{};  // numbers that were left out
  std::uint64_t backwards = 0;                           // numbers or times that went back
};

class MediaClient {
 public:
  MediaClient(GatewayPool& pool, Received& received, const std::string& start = k_start)
      : received_(received), socket_(pool.connect()) {
    socket_.send(start);
    ready = socket_.receive_type("session.ready");
  }

  // The next frame; false when the connection is over.
  bool receive() {
    header.reset();
    text = nullptr;
    const auto frame = socket_.receive();
    if (!frame) return false;
    if (frame->text) {
      text = nlohmann::json::parse(frame->bytes);
      return true;
    }
    header = server::media_header(frame->bytes);
    REQUIRE(header);
    note();
    return true;
  }
  bool until(const std::function<bool()>& holds) {
    while (receive()) {
      if (holds()) return true;
    }
    return false;
  }
  bool until_text(const std::string& type) {
    return until([&] { return text.is_object() && text.at("type") == type; });
  }
  bool until_media(server::MediaKind kind) {
    return until([&] { return header && header->kind == kind; });
  }
  bool has(std::uint8_t flags) const { return (header->flags & flags) == flags; }
  SocketClient& socket() { return socket_; }
  std::string token() const { return ready.at("resume_token"); }

  nlohmann::json ready{}, text{};
  std::optional<server::MediaHeader> header{};

 private:
  void note() {
    const auto before = received_.last.find(header->kind);
    if (before != received_.last.end()) {
      const auto& last = before->second;
      if (header->sequence <= last.sequence || header->time <= last.time) ++received_.backwards;
      received_.missing[header->kind] += header->sequence - last.sequence - 1;
    }
    received_.last[header->kind] = *header;
  }

  Received& received_;
  SocketClient socket_;
};

}  // namespace navtalk::tests
