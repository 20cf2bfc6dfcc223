#include "server/http/socket/read_pace.h"

#include <algorithm>

namespace navtalk::server {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t k_quantum = 1024;  // bytes: fewer are not worth a read
constexpr ReadPace::Clock::duration k_longest_pause = 250ms;

}  // namespace

ReadPace::ReadPace(const PaceLimits& limits, Clock::time_point now)
    : limits_(limits), bucket_(limits.bytes, now) {}

std::size_t ReadPace::quantum() const { return std::min(k_quantum, limits_.bytes.burst); }

std::size_t ReadPace::allowed(std::size_t unread, Clock::time_point now) {
  const std::size_t tokens = bucket_.available(now);
  const bool may_read = tokens >= quantum();
  if (unread == 0) behind_since_.reset();
  if (!may_read && unread > 0) {
    if (!behind_since_) behind_since_ = now;
    too_fast_ = too_fast_ || now - *behind_since_ >= limits_.patience;
  }
  return may_read ? tokens : 0;
}

ReadPace::Clock::duration ReadPace::pause(Clock::time_point now) {
  return std::min(k_longest_pause, bucket_.time_to(quantum(), now));
}

void ReadPace::note_read(std::size_t bytes, Clock::time_point now) { bucket_.take(bytes, now); }

}  // namespace navtalk::server
