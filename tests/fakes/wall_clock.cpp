// A wall clock that a test sets: a library for LD_PRELOAD that moves CLOCK_REALTIME, and nothing
// else, by as many seconds as the first eight bytes of the file WALL_CLOCK_SHIFT say (a signed
// number, in this machine's order; it may change at any time).
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <ctime>

namespace {

using Shift = std::atomic<std::int64_t>;

const Shift* mapped() {
  static const Shift k_none{0};
  const char* file = std::getenv("WALL_CLOCK_SHIFT");
  const int fd = file == nullptr ? -1 : ::open(file, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return &k_none;
  void* memory = ::mmap(nullptr, sizeof(Shift), PROT_READ, MAP_SHARED, fd, 0);
  ::close(fd);
  return memory == MAP_FAILED ? &k_none : static_cast<const Shift*>(memory);
}

std::int64_t shift_s() {
  static const Shift* const k_shift = mapped();
  return k_shift->load(std::memory_order_relaxed);
}

}  // namespace

extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const long result = ::syscall(SYS_clock_gettime, clock, time);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
    time->tv_sec += shift_s();
  }
  return static_cast<int>(result);
}

extern "C" int gettimeofday(timeval* time, void*) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  *time = {.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
  return 0;
}

extern "C" time_t time(time_t* into) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (into != nullptr) *into = now.tv_sec;
  return now.tv_sec;
}
