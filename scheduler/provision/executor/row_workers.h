// Threads that work on rows of the pool, each row on one thread at a time. A thread starts when a row
// needs it, and stays; those that widen() adds end when no row waits. Thread-safe.
//
//   start(row) ──► queue ──► a thread: work(row) ──► under_way(row) is false again
#pragma once

#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "core/base/channel.h"
#include "scheduler/pool/gpu.h"

namespace navtalk {

class RowWorkers {
 public:
  using Work = std::function<void(const Gpu&, const std::stop_token&)>;

  // `make_work` runs once on each thread: what it captures belongs to that thread. The work itself
  // throws nothing. No more than `queue` rows are in the queue.
  RowWorkers(int threads, std::size_t queue, std::function<Work()> make_work);
  // Asks the work that is under way to stop, and waits for it; rows in the queue are dropped.
  ~RowWorkers();
  RowWorkers(const RowWorkers&) = delete;
  RowWorkers& operator=(const RowWorkers&) = delete;

  // False when the row is under way already, or the queue is full.
  bool start(const Gpu& row);
  bool under_way(const GpuId& id) const;
  // More threads for rows that wait: `more` of them, as long as there are fewer than `most` in all.
  void widen(std::size_t more, std::size_t most);
  // True once nothing is under way; false after that time, or on a stop request.
  bool wait_idle(Duration at_most, const std::stop_token& stop);
  void request_stop();

 private:
  struct Spare {
    bool ended = false;
    std::jthread thread{};  // last: it uses the rest
  };

  // Until a stop; a spare one until no row waits.
  void run(const Work& work, const std::stop_token& stop, bool spare);

  const std::size_t most_threads_;
  const std::function<Work()> make_work_;
  mutable std::mutex mutex_;  // of under_way_, threads_ and spares_
  std::condition_variable_any idle_;
  std::set<GpuId> under_way_;
  std::size_t capacity_;
  Channel<Gpu> queue_;
  std::vector<std::jthread> threads_;  // last: they use the rest
  std::list<Spare> spares_;            // so do these
};

}  // namespace navtalk
