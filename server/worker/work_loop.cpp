#include "server/worker/work_loop.h"

namespace navtalk::server {

constexpr std::chrono::milliseconds k_turn{250};

WorkLoop::WorkLoop(std::function<void()> every_turn)
    : every_turn_(std::move(every_turn)),
      io_(1),
      timer_(io_),
      turned_(Clock::now().time_since_epoch().count()) {
  thread_ = std::jthread([this] {
    turn();  // before any work
    io_.run();
  });
}

WorkLoop::~WorkLoop() { io_.stop(); }

WorkLoop::Clock::duration WorkLoop::since_turn() const {
  return Clock::now().time_since_epoch() - Clock::duration(turned_.load());
}

void WorkLoop::turn() {
  turned();
  if (every_turn_) every_turn_();
  timer_.expires_after(k_turn);
  timer_.async_wait([this](boost::system::error_code) { turn(); });
}

}  // namespace navtalk::server
