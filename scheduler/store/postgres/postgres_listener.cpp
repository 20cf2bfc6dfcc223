#include "scheduler/store/postgres/postgres_listener.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "core/base/error.h"
#include "core/database/postgres.h"
#include "core/files/whole_file.h"

namespace navtalk {

PostgresListener::PostgresListener(std::string url, std::string channel)
    : url_(std::move(url)), channel_(std::move(channel)), wake_(eventfd(0, EFD_CLOEXEC)) {
  if (!wake_) {
    throw Error(Code::failed, fmt::format("cannot make an eventfd: {}", system_message(errno)));
  }
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

std::uint64_t PostgresListener::wait(std::uint64_t seen, Duration at_most,
                                     const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, stop, at_most, [&] { return count_ != seen; });
  return count_;
}

void PostgresListener::run(const std::stop_token& stop) {
  constexpr std::chrono::seconds k_pause(1);
  while (!stop.stop_requested()) {
    try {
      listen(stop);
    } catch (const Error& error) {
      outage_.failed("listener", error.message());
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, stop, k_pause, [] { return false; });
    }
  }
}

void PostgresListener::listen(const std::stop_token& stop) {
  const std::stop_callback wake(stop, [this] { eventfd_write(wake_.value(), 1); });
  PostgresConnection connection(url_);
  connection.script(fmt::format("LISTEN {}", channel_));
  count_one();
  outage_.well("listener");
  while (!stop.stop_requested()) {
    std::array<pollfd, 2> ready = {{{connection.socket(), POLLIN, 0}, {wake_.value(), POLLIN, 0}}};
    if (poll(ready.data(), ready.size(), -1) < 0 && errno != EINTR) {
      throw Error(Code::failed, fmt::format("poll: {}", system_message(errno)));
    }
    if (ready[0].revents != 0 && connection.take_notifications() > 0) count_one();
  }
}

void PostgresListener::count_one() {
  {
    const std::lock_guard lock(mutex_);
    ++count_;
  }
  changed_.notify_all();
}

}  // namespace navtalk
