#include "core/checkpoint/truncation_guard.h"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>

namespace navtalk {
namespace {

// Read in the signal's handler, so without locks. A range is seen as soon as its `last` is set.
struct Range {
  std::atomic<bool> taken{false};
  std::atomic<bool> cut{false};
  std::atomic<std::uintptr_t> first{0}, last{0};
};
static_assert(std::atomic<std::uintptr_t>::is_always_lock_free);

std::array<Range, k_guarded_ranges> ranges;
std::uintptr_t page_bytes = 0;
struct sigaction previous {};

// The range that holds the address, or nullptr.
Range* find(std::uintptr_t address) {
  for (Range& range : ranges) {
    const std::uintptr_t last = range.last.load(std::memory_order_acquire);
    if (last != 0 && address >= range.first.load(std::memory_order_relaxed) && address <= last)
      return &range;
  }
  return nullptr;
}

void pass_on(int signal, siginfo_t* info, void* context) {
  if ((previous.sa_flags & SA_SIGINFO) != 0 && previous.sa_sigaction != nullptr)
    return previous.sa_sigaction(signal, info, context);
  if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN)
    return previous.sa_handler(signal);
  std::signal(signal, SIG_DFL);  // the access is repeated, and ends the program
}

void on_bus_error(int signal, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  Range* const range = info->si_code == BUS_ADRERR ? find(address) : nullptr;
  if (range != nullptr) {
    range->cut.store(true);
    void* const page = reinterpret_cast<void*>(address / page_bytes * page_bytes);
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
    if (::mmap(page, page_bytes, PROT_READ, flags, -1, 0) != MAP_FAILED) return;
  }
  pass_on(signal, info, context);
}

void install_handler() {
  page_bytes = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  struct sigaction action {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigaction(SIGBUS, &action, &previous);
}

}  // namespace

void guard_against_truncation(std::span<const std::byte> range) {
  [[maybe_unused]] static const bool installed = (install_handler(), true);
  const auto first = reinterpret_cast<std::uintptr_t>(range.data());
  for (Range& free : ranges) {
    if (free.taken.exchange(true)) continue;
    free.cut.store(false);
    free.first.store(first, std::memory_order_relaxed);
    free.last.store(first + range.size() - 1, std::memory_order_release);
    return;
  }
}

bool was_cut(std::span<const std::byte> range) {
  const Range* const held = find(reinterpret_cast<std::uintptr_t>(range.data()));
  return held != nullptr && held->cut.load();
}

void end_guard(std::span<const std::byte> range) {
  Range* const held = find(reinterpret_cast<std::uintptr_t>(range.data()));
  if (held == nullptr) return;
  held->last.store(0, std::memory_order_release);
  held->taken.store(false);
}

}  // namespace navtalk
