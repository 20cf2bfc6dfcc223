// Whose turn it is to write, and how many changes there were: for all processes that have one
// SQLite file open. Robust mutexes and counters in a small file beside it, mapped by all.
//
//   newcomer ──line──► next ──turn──► writes ──► for a moment longer straight to the turn
//
// The line is first come, first served: each waits for a mutex of the one before it, so none that
// is already running can push in. The moment saves most changes of process, which cost as much as a
// short transaction; it is short enough for sixteen of them to be no delay. SQLite's own lock stays
// what protects the data: this one is only fair and quick where that one backs off and sleeps. The
// kernel gives it up when its holder dies, and nobody waits for it longer than they said; then
// order is lost, and nothing else. Thread-safe.
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

class SharedTurn {
 public:
  // Held until destroyed, by the thread that took it.
  class Hold {
   public:
    explicit Hold(SharedTurn& turn) : turn_(&turn) {}
    Hold(Hold&& other) noexcept;
    Hold& operator=(Hold&&) = delete;
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;
    ~Hold();

   private:
    SharedTurn* turn_;
  };

  // Makes the file where it is missing or was left by an earlier boot. Error{failed} naming it
  // where it cannot be opened, or finds no room on the disk.
  explicit SharedTurn(const std::filesystem::path& file);
  ~SharedTurn();
  SharedTurn(SharedTurn&&) = delete;
  SharedTurn& operator=(SharedTurn&&) = delete;
  SharedTurn(const SharedTurn&) = delete;
  SharedTurn& operator=(const SharedTurn&) = delete;

  // nullopt when it was not to be had: its holder is stuck or stopped.
  std::optional<Hold> take(Duration at_most);
  // Does the work unless another does it at this moment.
  void unless_busy(const std::function<void()>& work);

  std::uint32_t changes() const;
  void announce_change();
  // Until the number of changes is not `seen`, the time is over or a stop was asked.
  std::uint32_t wait_for_change(std::uint32_t seen, Duration at_most, const std::stop_token& stop);

 private:
  struct Page;
  using BootId = std::array<char, 48>;
  // Has it been made, whole, since that boot?
  static bool is_there(int fd, const BootId& boot);
  // False after the deadline.
  bool stand_in_line(const timespec& deadline);

  Page* page_ = nullptr;
  std::atomic<std::int64_t> moment_ends_{0};  // steady clock, nanoseconds
};

}  // namespace navtalk
