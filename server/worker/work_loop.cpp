#include "server/worker/work_loop.h"

namespace navtalk::server {

constexpr std::chrono::milliseconds k_interval{250};

WorkLoop::WorkLoop(std::function<void()> on_beat)
    : on_beat_(std::move(on_beat)),
      io_(1),
      timer_(io_),
      last_beat_(Clock::now().time_since_epoch().count()) {
  thread_ = std::jthread([this] {
    beat();  // before any work
    io_.run();
  });
}

WorkLoop::~WorkLoop() { io_.stop(); }

WorkLoop::Clock::duration WorkLoop::since_heartbeat() const {
  return Clock::now().time_since_epoch() - Clock::duration(last_beat_.load());
}

void WorkLoop::beat() {
  heartbeat();
  if (on_beat_) on_beat_();
  timer_.expires_after(k_interval);
  timer_.async_wait([this](boost::system::error_code) { beat(); });
}

}  // namespace navtalk::server
