#include "server/worker/idle_shutdown.h"

#include <fmt/format.h>

#include "core/log/log.h"
#include "server/http/as_tuple.h"

namespace navtalk::server {
namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {}  // namespace

IdleShutdown::IdleShutdown(const asio::any_io_executor& executor, IdleShutdownOptions options)
    : options_(options), timer_(executor) {}

void IdleShutdown::note_contact() { last_contact_ = Clock::now(); }

asio::awaitable<bool> IdleShutdown::expired(std::function<bool()> has_sessions) {
  const auto every = std::min<std::chrono::milliseconds>(1s, options_.gateway_timeout / 4);
  while (!stopped_ && options_.gateway_timeout > 0ms) {
    timer_.expires_after(every);
    co_await timer_.async_wait(k_tuple);
    if (has_sessions()) note_contact();
    const auto idle = Clock::now() - last_contact_.value_or(started_);
    const auto bound = last_contact_ ? options_.gateway_timeout : options_.first_contact;
    if (stopped_ || idle < bound) continue;
    log::warn("the worker ends: no gateway has spoken to it",
              {{"idle_s", fmt::format("{:.0f}", std::chrono::duration<double>(idle).count())}});
    co_return true;
  }
  co_return false;
}

void IdleShutdown::stop() {
  stopped_ = true;
  timer_.cancel();
}

}  // namespace navtalk::server
