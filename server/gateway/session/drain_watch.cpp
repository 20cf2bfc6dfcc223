#include "server/gateway/session/drain_watch.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <utility>

#include "scheduler/pool/drain_notices.h"
#include "scheduler/queue/withdrawn.h"
#include "server/http/as_tuple.h"

namespace navtalk::server {
namespace asio = boost::asio;

namespace {

constexpr auto k_look_every = std::chrono::seconds(1);  // at most

}  // namespace

DrainWatch::DrainWatch(const asio::any_io_executor& executor, PoolStore& store,
                       BlockingThreads& threads, ErrorThrottleLog& errors,
                       std::function<void(const Ends&)> tell)
    : store_(store), threads_(threads), errors_(errors), tell_(std::move(tell)), pause_(executor) {}

void DrainWatch::note_change() {
  due_ = true;
  if (std::exchange(looking_, true)) return;
  asio::co_spawn(pause_.get_executor(), look(), asio::detached);
}

asio::awaitable<void> DrainWatch::look() {
  while (std::exchange(due_, false)) {
    try {
      const Ends ends = co_await threads_.run([this] { return read(); });
      tell_(ends);
      errors_.well("drains");
    } catch (const std::exception& error) {
      errors_.failed("drains",
                     error.what());  // the next change, or the next few seconds, ask again
    }
    pause_.expires_after(k_look_every);
    co_await pause_.async_wait(k_tuple);
  }
  looking_ = false;
}

// A notice counts for as long as its GPU drains.
DrainWatch::Ends DrainWatch::read() const {
  Ends ends;
  const DrainNotices notices = k_drain_notices.read(store_).value_or(DrainNotices{});
  if (notices.empty()) return ends;
  const PoolView view = store_.view();
  const auto now = Clock::now();
  const bool last = withdrawn(view.gpus);
  for (const Gpu& gpu : view.gpus) {
    if (!gpu.draining) continue;
    for (const DrainNotice& notice : notices) {
      if (notice.gpu == gpu.id)
        ends[gpu.id] = {.at = now + (notice.ends_at - view.now), .last = last};
    }
  }
  return ends;
}

}  // namespace navtalk::server
