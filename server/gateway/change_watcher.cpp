#include "server/gateway/change_watcher.h"

#include <boost/asio/post.hpp>

#include "core/base/sleep.h"

namespace navtalk::server {
namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr Duration k_wait = 5s;     // for a change
constexpr auto k_watch_retry = 1s;  // after a failure

}  // namespace

ChangeWatcher::ChangeWatcher(PoolStore& store, Allocator& allocator, ErrorThrottleLog& errors,
                             asio::any_io_executor executor, std::function<void()> on_change)
    : store_(store),
      allocator_(allocator),
      errors_(errors),
      executor_(std::move(executor)),
      on_change_(std::move(on_change)),
      thread_([this](const std::stop_token& stop) { watch(stop); }) {}

void ChangeWatcher::watch(const std::stop_token& stop) {
  for (std::uint64_t seen = 0; !stop.stop_requested();) {
    try {
      seen = store_.wait_for_change(seen, k_wait, stop);
      allocator_.invalidate_view();
      errors_.well("changes");
    } catch (const std::exception& error) {
      errors_.failed("changes", error.what());
      sleep_for(k_watch_retry, stop);
    }
    // Not `this`: the loop may run it when the watcher is gone.
    asio::post(executor_, on_change_);
  }
}

}  // namespace navtalk::server
