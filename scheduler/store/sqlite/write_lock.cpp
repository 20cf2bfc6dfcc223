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
#include "core/text/printable.h"
#include "scheduler/store/sqlite/boot_clock.h"

namespace navtalk {
namespace {

constexpr std::array<char, 16> k_magic = {"navtalk-turn-2"};
constexpr std::uint32_t k_places =
    1024;  // in the line; more threads than that only lose their order
// How long one who has had the turn may take it again without standing in line.
constexpr std::chrono::microseconds k_moment(400);

std::int64_t steady_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

#if defined(__SANITIZE_THREAD__)
using Clock = std::chrono::system_clock;  // it does not know pthread_mutex_clocklock
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

std::array<char, 48> this_boot() {
  const std::string boot = boot_id();
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

// Is it ours now? A holder that died left nothing behind that this mutex protects.
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
struct SharedTurn::Page {
  std::array<char, 16> magic;
  BootId boot_id;
  pthread_mutex_t turn, chore;
  std::atomic<std::uint32_t> changes;
  std::atomic<std::uint32_t> tickets;
  // Held by the one in line with ticket `ticket`, from before it looks for the one ahead until it
  // has the turn.
  struct Place {
    pthread_mutex_t mutex;
    std::atomic<std::uint32_t> ticket;
  };
  std::array<Place, k_places> line;

  Place& place(std::uint32_t ticket) { return line[ticket % k_places]; }

  bool is_of(const BootId& boot) const { return magic == k_magic && boot_id == boot; }
};

bool SharedTurn::is_there(int fd, const BootId& boot) {
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

SharedTurn::Hold::Hold(Hold&& other) noexcept : turn_(std::exchange(other.turn_, nullptr)) {}

SharedTurn::Hold::~Hold() {
  if (turn_ != nullptr) pthread_mutex_unlock(&turn_->page_->turn);
}

SharedTurn::SharedTurn(const std::filesystem::path& file) {
  const auto fail = [&](const char* what) {
    return Error(Code::failed, fmt::format("cannot {} {}: {}", what, printable(file.native()),
                                           system_message(errno)));
  };
  const UniqueFd fd(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!fd) throw fail("open");
  while (flock(fd.value(), LOCK_EX) != 0) {
    if (errno != EINTR) throw fail("lock");
  }
  const BootId boot = this_boot();
  // Room before it is mapped: a page without any would end the process when it is written to. Not
  // while others may use the file, for where the file system cannot do it, zeros are written.
  if (!is_there(fd.value(), boot) && (errno = posix_fallocate(fd.value(), 0, sizeof(Page))) != 0) {
    throw fail("make room on the disk for");
  }
  void* memory = mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, fd.value(), 0);
  if (memory == MAP_FAILED) throw fail("map");
  page_ = static_cast<Page*>(memory);
  if (!page_->is_of(boot)) {
    page_->magic = {};
    page_->boot_id = boot;
    make_mutex(page_->turn);
    make_mutex(page_->chore);
    page_->changes = 1;
    page_->tickets = 1;
    for (Page::Place& place : page_->line) {
      make_mutex(place.mutex);
      place.ticket = 0;
    }
    page_->magic = k_magic;  // last: a half-made page is made again
  }
  flock(fd.value(), LOCK_UN);  // the mapping keeps the file, and the lock with it
}

SharedTurn::~SharedTurn() { munmap(page_, sizeof(Page)); }

std::optional<SharedTurn::Hold> SharedTurn::take(Duration at_most) {
  const timespec deadline = deadline_after(at_most);
  const bool mine = steady_now() < moment_ends_.load() ? lock_until(page_->turn, deadline)
                                                       : stand_in_line(deadline);
  return mine ? std::optional<Hold>(std::in_place, *this) : std::nullopt;
}

bool SharedTurn::stand_in_line(const timespec& deadline) {
  const std::uint32_t ticket = page_->tickets.fetch_add(1);
  Page::Place& mine = page_->place(ticket);
  Page::Place& ahead = page_->place(ticket - 1);
  if (!lock_until(mine.mutex, deadline)) return false;
  mine.ticket = ticket;
  futex(mine.ticket, FUTEX_WAKE, 1, nullptr);
  // The one ahead has drawn its ticket and is about to stand there, unless it was killed between.
  constexpr timespec k_patience{.tv_sec = 0, .tv_nsec = 5'000'000};
  const std::uint32_t before = ahead.ticket;
  if (before != ticket - 1) futex(ahead.ticket, FUTEX_WAIT, before, &k_patience);
  bool mine_now = lock_until(ahead.mutex, deadline);
  if (mine_now) {
    pthread_mutex_unlock(&ahead.mutex);
    mine_now = lock_until(page_->turn, deadline);
  }
  pthread_mutex_unlock(&mine.mutex);
  if (mine_now) {
    const std::int64_t moment = std::chrono::nanoseconds(k_moment).count();
    moment_ends_ = steady_now() + moment;
  }
  return mine_now;
}

void SharedTurn::unless_busy(const std::function<void()>& work) {
  if (!taken(page_->chore, pthread_mutex_trylock(&page_->chore))) return;
  try {
    work();
  } catch (...) {
    pthread_mutex_unlock(&page_->chore);
    throw;
  }
  pthread_mutex_unlock(&page_->chore);
}

std::uint32_t SharedTurn::changes() const { return page_->changes.load(); }

void SharedTurn::announce_change() {
  page_->changes.fetch_add(1);
  futex(page_->changes, FUTEX_WAKE, INT_MAX, nullptr);
}

std::uint32_t SharedTurn::wait_for_change(std::uint32_t seen, Duration at_most,
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
