#include "core/artifacts/ranges/range_fetch.h"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "core/artifacts/ranges/ahead_files.h"
#include "core/artifacts/ranges/range_plan.h"
#include "core/artifacts/tries.h"
#include "core/base/error.h"
#include "core/base/interrupt.h"

namespace navtalk {
namespace {

using RangeClock = std::chrono::steady_clock;

constexpr int k_range_tries = 2;  // in a row, without a byte between them
// How often one without a range looks whether another one is too slow.
constexpr std::chrono::milliseconds k_look{200};

class RangeFetch {
 public:
  RangeFetch(std::vector<RangeConnection>& connections, PartialBlob& blob, const RangeSizes& sizes)
      : connections_(connections),
        whole_(blob.wanted()),
        ahead_(blob),
        plan_(blob.size(), blob.wanted(), sizes, storage(blob), ahead_.kept()),
        stops_(connections.size()) {}

  void run(const std::stop_token& stop) {
    const std::stop_callback pass_on(stop, [this] { stop_all(); });
    {
      std::vector<std::jthread> threads;
      for (std::size_t i = 0; i < connections_.size(); ++i)
        threads.emplace_back([this, i] { serve(i); });
    }
    throw_if_stopped(stop);
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  RangePlan::Storage storage(PartialBlob& blob) {
    return {.write = [&blob](std::string_view bytes) { blob.append(bytes); },
            .keep = [this](std::uint64_t first,
                           std::string_view bytes) { ahead_.append(first, bytes); },
            .write_kept = [this](std::uint64_t first) { ahead_.move_to_blob(first); }};
  }

  // All ranges of one connection, until there are none or it is of no use.
  void serve(std::size_t i) {
    const std::stop_token stop = stops_[i].get_token();
    try {
      Tries tries(k_range_tries, stop);
      while (const auto range = wait_for_range(i)) {
        const Came came = fetch(i, *range, stop);
        if (came.any) tries.progressed();
        if (came.all) continue;
        if (stop.stop_requested() || connections_[i].last.outcome != Transfer::Outcome::again ||
            !tries.again(connections_[i].last))
          break;
      }
    } catch (...) {
      if (!stop.stop_requested()) fail(std::current_exception());
    }
    leave(i);
  }

  struct Came {
    bool any = false, all = false;
  };
  Came fetch(std::size_t i, const RangePlan::Range& range, const std::stop_token& stop) {
    Came came;
    RangeConnection& connection = connections_[i];
    const auto take = [&](std::string_view bytes) {
      came.any = true;
      return receive(i, bytes);
    };
    connection.last = connection.source->fetch_range(
        connection.key, {.first = range.first, .end = range.end, .whole = whole_}, take, stop);
    const std::lock_guard lock(mutex_);
    came.all = plan_.release(i);
    if (came.all) {
      connection.last = {};
    } else if (connection.last.outcome == Transfer::Outcome::done) {
      connection.last.outcome = Transfer::Outcome::again;  // a server that sends less at once
    }
    changed_.notify_all();
    return came;
  }

  std::optional<RangePlan::Range> wait_for_range(std::size_t i) {
    std::unique_lock lock(mutex_);
    while (!plan_.whole() && !failure_ && !stops_[i].stop_requested()) {
      if (const auto range = plan_.next(i, RangeClock::now())) {
        if (range->loser) stops_[*range->loser].request_stop();
        return range;
      }
      changed_.wait_for(lock, k_look);
    }
    return std::nullopt;
  }

  // Called by curl, through which no exception may pass.
  bool receive(std::size_t i, std::string_view bytes) noexcept {
    const std::lock_guard lock(mutex_);
    if (failure_ || stops_[i].stop_requested()) return false;
    try {
      const bool more = plan_.receive(i, bytes, RangeClock::now());
      if (plan_.whole()) stop_all();
      return more;
    } catch (...) {
      failure_ = std::current_exception();
      stop_all();
      return false;
    }
  }

  void fail(std::exception_ptr why) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = why;
    stop_all();
  }
  void leave(std::size_t i) {
    const std::lock_guard lock(mutex_);
    plan_.release(i);
    changed_.notify_all();
  }
  void stop_all() {
    for (std::stop_source& stop : stops_) stop.request_stop();
    changed_.notify_all();
  }

  std::vector<RangeConnection>& connections_;
  const std::uint64_t whole_;
  AheadFiles ahead_;
  std::mutex mutex_;
  std::condition_variable changed_;
  RangePlan plan_;
  std::exception_ptr failure_;
  std::vector<std::stop_source> stops_;
};

}  // namespace

bool fetch_ranges(std::vector<RangeConnection>& connections, PartialBlob& blob,
                  const RangeSizes& sizes, const std::stop_token& stop) {
  if (!connections.empty()) RangeFetch(connections, blob, sizes).run(stop);
  return blob.size() == blob.wanted();
}

}  // namespace navtalk
