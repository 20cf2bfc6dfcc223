// The time at which a message was sent, at its start: eight bytes of this machine's steady clock in
// nanoseconds, as every process of it reads them. Plain functions.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace navtalk::cmd {

// The message is at least `at` + 8 bytes long.
inline void put_stamp(std::string& message, std::size_t at) {
  const std::int64_t now =
      std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
  std::memcpy(message.data() + at, &now, sizeof now);
}

// Milliseconds since it was put there; nullopt for a message that is too short.
inline std::optional<float> since_stamp_ms(std::string_view message, std::size_t at,
                                           std::chrono::steady_clock::time_point now) {
  std::int64_t then = 0;
  if (message.size() < at + sizeof then) return std::nullopt;
  std::memcpy(&then, message.data() + at, sizeof then);
  return std::chrono::duration<float, std::milli>(now.time_since_epoch() -
                                                  std::chrono::nanoseconds(then))
      .count();
}

}  // namespace navtalk::cmd
