#include "scheduler/store/sqlite/write_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/unique_fd.h"
#include "core/files/whole_file.h"
#include "core/process/boot.h"
#include "core/text/printable.h"

namespace navtalk {
namespace {

constexpr std::array<char, 16> k_magic = {"navtalk-turn-2"};
// More threads than this still exclude each other, but lose their order.
constexpr std::uint32_t k_queue_entries = 1024;
// For so long after a wait in the queue a process may take the lock again without queueing.
constexpr std::chrono::microseconds k_grace(400);

std::int64_t steady_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

#if defined(__SANITIZE_THREAD__)
using Clock = std::chrono::system_clock;  // TSan does not know pthread_mutex_clocklock
int lock_by(pthread_mutex_t& mutex, const timespec& deadline) {
  return pthread_mutex_timedlock(&mutex, &deadline);
}
#else
using Clock = std::chrono::steady_clock;
int lock_by(pthread_mutex_t& mutex, const timespec& deadline) {
  return pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &deadline);
}
#endif

timespec deadline_after(Duration wait) {
  const auto at = Clock::now() + wait;
  const auto seconds = std::chrono::floor<std::chrono::seconds>(at);
  const auto rest = std::chrono::duration_cast<std::chrono::nanoseconds>(at - seconds);
  return {.tv_sec = seconds.time_since_epoch().count(), .tv_nsec = rest.count()};
}

std::array<char, 48> padded_boot_id() {
  const std::optional<std::string> id = boot_id();
  if (!id) throw Error(Code::failed, "cannot read the boot id from /proc: is /proc mounted?");
  const std::string& boot = *id;
  std::array<char, 48> text{};
  std::copy_n(boot.begin(), std::min(boot.size(), text.size() - 1), text.begin());
  return text;
}

void make_mutex(pthread_mutex_t& mutex) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  NAVTALK_CHECK(pthread_mutex_init(&mutex, &attributes) == 0);
  pthread_mutexattr_destroy(&attributes);
}

// Is the mutex ours now? A holder that died left no state behind that needs repair.
bool taken(pthread_mutex_t& mutex, int result) {
  if (result == EOWNERDEAD) {
    pthread_mutex_consistent(&mutex);
    return true;
  }
  return result == 0;
}

bool lock_until(pthread_mutex_t& mutex, const timespec& deadline) {
  return taken(mutex, lock_by(mutex, deadline));
}

long futex(const std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
           const timespec* wait) {
  return syscall(SYS_futex, &word, operation, value, wait, nullptr, 0);
}

}  // namespace

// The file's content. A pthread mutex has the same layout for all programs of one architecture.
struct WriteLock::Page {
  std::array<char, 16> magic;
  BootId boot_id;
  pthread_mutex_t lock, maintenance;
  std::atomic<std::uint32_t> changes;
  std::atomic<std::uint32_t> tickets;
  // Held by the waiter with ticket `ticket`, from before it looks for the one ahead until it has the
  // lock.
  struct Entry {
    pthread_mutex_t mutex;
    std::atomic<std::uint32_t> ticket;
  };
  std::array<Entry, k_queue_entries> queue;

  Entry& entry(std::uint32_t ticket) { return queue[ticket % k_queue_entries]; }

  bool is_of(const BootId& boot) const { return magic == k_magic && boot_id == boot; }
};

bool WriteLock::is_there(int fd, const BootId& boot) {
  struct {
    std::array<char, 16> magic;
    BootId boot_id;
  } head{};
  struct stat status {};
  static_assert(offsetof(Page, boot_id) == sizeof(head.magic));
  return fstat(fd, &status) == 0 && status.st_size >= static_cast<off_t>(sizeof(Page)) &&
         pread(fd, &head, sizeof(head), 0) == sizeof(head) && head.magic == k_magic &&
         head.boot_id == boot;
}

WriteLock::Hold::Hold(Hold&& other) noexcept : lock_(std::exchange(other.lock_, nullptr)) {}

WriteLock::Hold::~Hold() {
  if (lock_ != nullptr) pthread_mutex_unlock(&lock_->page_->lock);
}

WriteLock::WriteLock(const std::filesystem::path& file) {
  const auto fail = [&](const char* what) {
    return Error(Code::failed, fmt::format("cannot {} {}: {}", what, printable(file.native()),
                                           system_message(errno)));
  };
  const UniqueFd fd(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!fd) throw fail("open");
  while (flock(fd.value(), LOCK_EX) != 0) {
    if (errno != EINTR) throw fail("lock");
  }
  const BootId boot = padded_boot_id();
  // Allocates the blocks before mapping: a write to a page without one would end the process. Not
  // while others may use the file: where the file system cannot allocate, zeros are written.
  if (!is_there(fd.value(), boot) && (errno = posix_fallocate(fd.value(), 0, sizeof(Page))) != 0) {
    throw fail("make room on the disk for");
  }
  void* memory = mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, fd.value(), 0);
  if (memory == MAP_FAILED) throw fail("map");
  page_ = static_cast<Page*>(memory);
  if (!page_->is_of(boot)) {
    page_->magic = {};
    page_->boot_id = boot;
    make_mutex(page_->lock);
    make_mutex(page_->maintenance);
    page_->changes = 1;
    page_->tickets = 1;
    for (Page::Entry& entry : page_->queue) {
      make_mutex(entry.mutex);
      entry.ticket = 0;
    }
    page_->magic = k_magic;  // last: a half-made page is made again
  }
  flock(fd.value(), LOCK_UN);  // the mapping keeps the file, and the lock with it
}

WriteLock::~WriteLock() { munmap(page_, sizeof(Page)); }

std::optional<WriteLock::Hold> WriteLock::take(Duration at_most) {
  const timespec deadline = deadline_after(at_most);
  const bool locked = steady_now() < grace_ends_.load() ? lock_until(page_->lock, deadline)
                                                        : wait_in_queue(deadline);
  return locked ? std::optional<Hold>(std::in_place, *this) : std::nullopt;
}

bool WriteLock::wait_in_queue(const timespec& deadline) {
  const std::uint32_t ticket = page_->tickets.fetch_add(1);
  Page::Entry& mine = page_->entry(ticket);
  Page::Entry& ahead = page_->entry(ticket - 1);
  if (!lock_until(mine.mutex, deadline)) return false;
  mine.ticket = ticket;
  futex(mine.ticket, FUTEX_WAKE, 1, nullptr);
  // The one ahead has drawn its ticket and is about to lock its entry, unless it was killed between.
  constexpr timespec k_patience{.tv_sec = 0, .tv_nsec = 5'000'000};
  const std::uint32_t before = ahead.ticket;
  if (before != ticket - 1) futex(ahead.ticket, FUTEX_WAIT, before, &k_patience);
  bool locked = lock_until(ahead.mutex, deadline);
  if (locked) {
    pthread_mutex_unlock(&ahead.mutex);
    locked = lock_until(page_->lock, deadline);
  }
  pthread_mutex_unlock(&mine.mutex);
  if (locked) {
    grace_ends_ = steady_now() + std::chrono::nanoseconds(k_grace).count();
  }
  return locked;
}

void WriteLock::unless_busy(const std::function<void()>& work) {
  if (!taken(page_->maintenance, pthread_mutex_trylock(&page_->maintenance))) return;
  try {
    work();
  } catch (...) {
    pthread_mutex_unlock(&page_->maintenance);
    throw;
  }
  pthread_mutex_unlock(&page_->maintenance);
}

std::uint32_t WriteLock::changes() const { return page_->changes.load(); }

void WriteLock::announce_change() {
  page_->changes.fetch_add(1);
  futex(page_->changes, FUTEX_WAKE, INT_MAX, nullptr);
}

std::uint32_t WriteLock::wait_for_change(std::uint32_t seen, Duration at_most,
                                         const std::stop_token& stop) {
  // The count must move, or a stop just before the wait would be slept through.
  const std::stop_callback wake(stop, [this] { announce_change(); });
  const auto deadline = std::chrono::steady_clock::now() + at_most;
  while (changes() == seen && !stop.stop_requested()) {
    const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(
        deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) break;
    const timespec wait{.tv_sec = left.count() / 1'000'000'000,
                        .tv_nsec = left.count() % 1'000'000'000};
    futex(page_->changes, FUTEX_WAIT, seen, &wait);
  }
  return changes();
}

}  // namespace navtalk
