#include "scheduler/provision/executor/row_workers.h"

#include <algorithm>
#include <utility>

namespace navtalk {

RowWorkers::RowWorkers(int threads, std::size_t queue, std::function<Work()> make_work)
    : most_threads_(static_cast<std::size_t>(threads)),
      make_work_(std::move(make_work)),
      capacity_(queue),
      queue_(queue) {}

RowWorkers::~RowWorkers() { request_stop(); }

void RowWorkers::request_stop() {
  const std::lock_guard lock(mutex_);
  for (std::jthread& thread : threads_) thread.request_stop();
  for (Spare& spare : spares_) spare.thread.request_stop();
  queue_.close();
}

// The row is under way from here on, so that no other start() takes it while it is in the queue.
bool RowWorkers::start(const Gpu& row) {
  const std::lock_guard lock(mutex_);
  if (queue_.size() >= capacity_ || !under_way_.insert(row.id).second) return false;
  if (!queue_.push(row)) {  // there is room: it is closed
    under_way_.erase(row.id);
    return false;
  }
  if (threads_.size() < std::min(under_way_.size(), most_threads_)) {
    threads_.emplace_back([this](const std::stop_token& stop) { run(make_work_(), stop, false); });
  }
  return true;
}

void RowWorkers::widen(std::size_t more, std::size_t most) {
  const std::lock_guard lock(mutex_);
  spares_.remove_if([](const Spare& spare) { return spare.ended; });
  for (std::size_t left = std::min(more, queue_.size());
       left > 0 && threads_.size() + spares_.size() < most; --left) {
    Spare& spare = spares_.emplace_back();
    spare.thread = std::jthread([this, &spare](const std::stop_token& stop) {
      run(make_work_(), stop, true);
      const std::lock_guard ending(mutex_);
      spare.ended = true;
    });
  }
}

bool RowWorkers::under_way(const GpuId& id) const {
  const std::lock_guard lock(mutex_);
  return under_way_.contains(id);
}

bool RowWorkers::wait_idle(Duration at_most, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  return idle_.wait_for(lock, stop, at_most, [this] { return under_way_.empty(); });
}

void RowWorkers::run(const Work& work, const std::stop_token& stop, bool spare) {
  std::stop_source no_wait;
  no_wait.request_stop();
  while (!stop.stop_requested()) {
    const std::optional<Gpu> row = queue_.pop(spare ? no_wait.get_token() : stop);
    if (!row) return;
    work(*row, stop);
    const std::lock_guard lock(mutex_);
    under_way_.erase(row->id);
    idle_.notify_all();
  }
}

}  // namespace navtalk
