// A ticket lock for the writers of one SQLite file, and a counter of changes, shared by all processes
// that have the file open. Robust mutexes and counters in a small file beside it, mapped by all.
//
//   newcomer ──queue──► next ──lock──► writes ──► grace: takes the lock again without queueing
//
// The queue is first come, first served: each waiter waits for a mutex of the one before it, so a
// running thread cannot overtake. The grace period saves most context switches between processes,
// each of which costs as much as a short transaction; sixteen grace periods are still no noticeable
// delay. SQLite's own lock protects the data; this one adds fairness, and wakes its waiters where
// SQLite's backs off and sleeps. The kernel releases it when its holder dies, and take() gives up
// after a timeout: then the order is lost, and nothing else. Thread-safe.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>

#include "core/base/time.h"

namespace navtalk {

class WriteLock {
 public:
  // Held until destroyed, by the thread that took it.
  class Hold {
   public:
    explicit Hold(WriteLock& lock) : lock_(&lock) {}
    Hold(Hold&& other) noexcept;
    Hold& operator=(Hold&&) = delete;
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;
    ~Hold();

   private:
    WriteLock* lock_;
  };

  // Makes the file where it is missing or was left by an earlier boot. Error{failed} naming it
  // where it cannot be opened, or finds no room on the disk.
  explicit WriteLock(const std::filesystem::path& file);
  ~WriteLock();
  WriteLock(WriteLock&&) = delete;
  WriteLock& operator=(WriteLock&&) = delete;
  WriteLock(const WriteLock&) = delete;
  WriteLock& operator=(const WriteLock&) = delete;

  // nullopt after the timeout: the holder is stuck or stopped.
  std::optional<Hold> take(Duration at_most);
  // Does the work, unless another thread or process is inside this call.
  void unless_busy(const std::function<void()>& work);

  std::uint32_t changes() const;
  void announce_change();
  // Returns when the number of changes differs from `seen`, after the timeout, or on a stop request.
  std::uint32_t wait_for_change(std::uint32_t seen, Duration at_most, const std::stop_token& stop);

 private:
  struct Page;
  using BootId = std::array<char, 48>;
  // Was the file made completely since that boot?
  static bool is_there(int fd, const BootId& boot);
  // False after the deadline.
  bool wait_in_queue(const timespec& deadline);

  Page* page_ = nullptr;
  std::atomic<std::int64_t> grace_ends_{0};  // steady clock, nanoseconds
};

}  // namespace navtalk
