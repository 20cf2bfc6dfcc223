#include "tests/gpu/cuda/emulation/cuda_emulation.h"

#include <algorithm>
#include <boost/context/fiber.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace navtalk::emulation {
namespace {

namespace context = boost::context;

constexpr std::size_t k_warp = 32;
constexpr std::size_t k_most_threads = 1024;
constexpr std::size_t k_most_shared = 227 * 1024;  // what a block of sm_90 can ask for
constexpr std::size_t k_stack = 64 * 1024;

struct Stack {
  const void* bottom = nullptr;
  std::size_t size = 0;
};

struct Thread {
  uint3 index{};
  Stack stack;
  void* kept = nullptr;  // AddressSanitizer's own, while the thread waits
  context::fiber self, caller;
  bool done = false;
  Meeting waits_at = Meeting::barrier;
  unsigned mask = 0;  // of the shuffle
  std::uint64_t brought = 0;
};

struct Block {
  dim3 grid, size;
  uint3 index{};
  std::vector<Thread> threads;
  std::unique_ptr<unsigned char[]> shared;
  std::size_t running = 0;
};

thread_local Block* t_block = nullptr;
thread_local Stack t_scheduler;  // the stack that the fibers return to

// AddressSanitizer must know on which stack the code runs: leaving() before each switch, arrived() behind it.
void leaving([[maybe_unused]] void** kept, [[maybe_unused]] const Stack& to) {
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_start_switch_fiber(kept, to.bottom, to.size);
#endif
}
void arrived([[maybe_unused]] void* kept, [[maybe_unused]] Stack* from) {
#ifdef __SANITIZE_ADDRESS__
  Stack unused;
  Stack& came = from != nullptr ? *from : unused;
  __sanitizer_finish_switch_fiber(kept, &came.bottom, &came.size);
#endif
}

// Stacks with a guard page that no fiber has now. To map one anew for each thread of each block would take most of the time.
class FreeStacks {
 public:
  FreeStacks() = default;
  FreeStacks(const FreeStacks&) = delete;
  FreeStacks& operator=(const FreeStacks&) = delete;
  ~FreeStacks() {
    for (context::stack_context& one : free_) base_.deallocate(one);
  }
  context::stack_context take() {
    if (free_.empty()) return base_.allocate();
    const context::stack_context taken = free_.back();
    free_.pop_back();
    return taken;
  }
  void give_back(const context::stack_context& stack) { free_.push_back(stack); }

 private:
  context::protected_fixedsize_stack base_{k_stack};
  std::vector<context::stack_context> free_{};
};
thread_local FreeStacks t_stacks;

// Notes where a fiber's stack is.
struct NotedStack {
  Stack* noted;
  context::stack_context allocate() {
    context::stack_context made = t_stacks.take();
    *noted = {static_cast<char*>(made.sp) - made.size, made.size};
    return made;
  }
  // What AddressSanitizer has marked there would be held against whoever gets that memory next.
  void deallocate(context::stack_context& made) {
#ifdef __SANITIZE_ADDRESS__
    __asan_unpoison_memory_region(static_cast<char*>(made.sp) - made.size, made.size);
#endif
    t_stacks.give_back(made);
  }
};

// From the fiber's first to its last moment, also when it is ended early.
struct Life {
  Life() { arrived(nullptr, &t_scheduler); }
  ~Life() { leaving(nullptr, t_scheduler); }
};

Block& block() {
  if (t_block == nullptr) throw std::logic_error("code of a kernel runs outside of a launch");
  return *t_block;
}
Thread& running() { return block().threads[block().running]; }

void check_limits(dim3 grid, dim3 size, std::size_t shared_bytes) {
  const std::size_t threads = std::size_t{size.x} * size.y * size.z;
  if (threads == 0 || threads > k_most_threads || size.z > 64)
    throw std::logic_error("a block of " + std::to_string(threads) + " threads");
  if (grid.y > 65535 || grid.z > 65535)
    throw std::logic_error("more than 65535 blocks along y or z");
  if (shared_bytes > k_most_shared)
    throw std::logic_error(std::to_string(shared_bytes) + " bytes of shared memory");
}

bool waits_at(const Thread& thread, Meeting meeting) {
  return !thread.done && thread.waits_at == meeting;
}
bool any_waits_at(const Block& block, Meeting meeting) {
  return std::any_of(block.threads.begin(), block.threads.end(),
                     [&](const Thread& thread) { return waits_at(thread, meeting); });
}

// A barrier is for all threads of the block, a shuffle for those of its mask.
void check_meeting(const Block& block) {
  const std::size_t count = block.threads.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (!waits_at(block.threads[i], Meeting::shuffle)) continue;
    const std::size_t first = i / k_warp * k_warp;
    for (std::size_t lane = 0; lane < k_warp && first + lane < count; ++lane) {
      if ((block.threads[i].mask >> lane & 1U) == 0) continue;
      const Thread& other = block.threads[first + lane];
      if (other.done) throw std::logic_error("a shuffle's mask names a thread that has ended");
      if (other.waits_at == Meeting::barrier)
        throw std::logic_error("a shuffle's mask names a thread that is at __syncthreads()");
    }
  }
  const auto ended = [](const Thread& thread) { return thread.done; };
  if (any_waits_at(block, Meeting::barrier) &&
      std::any_of(block.threads.begin(), block.threads.end(), ended))
    throw std::logic_error("not every thread of the block is at __syncthreads()");
}

template <class Switch>
void enter(Thread& thread, Switch change) {
  void* kept = nullptr;
  leaving(&kept, thread.stack);
  change(thread);
  arrived(kept, nullptr);
}

void run_block(Block& block, const std::function<void()>& thread) {
  t_block = &block;
  const std::size_t count = block.threads.size();
  std::exception_ptr failure;
  for (std::size_t i = 0; i < count; ++i) {
    Thread& self = block.threads[i];
    self.index = {static_cast<unsigned>(i % block.size.x),
                  static_cast<unsigned>(i / block.size.x % block.size.y),
                  static_cast<unsigned>(i / block.size.x / block.size.y)};
    self.self = context::fiber(std::allocator_arg, NotedStack{&self.stack},
                               [&self, &thread, &failure](context::fiber&& caller) {
                                 self.caller = std::move(caller);
                                 const Life life;
                                 try {
                                   thread();
                                 } catch (const context::detail::forced_unwind&) {
                                   throw;
                                 } catch (...) {
                                   failure = std::current_exception();
                                 }
                                 self.done = true;
                                 return std::move(self.caller);
                               });
  }
  for (bool alive = true; alive;) {  // one round is what lies between two meetings
    alive = false;
    // Who is at a barrier stays there while other warps still shuffle.
    const bool shuffle = any_waits_at(block, Meeting::shuffle);
    for (std::size_t i = 0; i < count && failure == nullptr; ++i) {
      Thread& self = block.threads[i];
      if (self.done) continue;
      if (shuffle && self.waits_at == Meeting::barrier) {
        alive = true;
        continue;
      }
      block.running = i;
      enter(self, [](Thread& entered) { entered.self = std::move(entered.self).resume(); });
      alive = alive || !self.done;
    }
    if (failure != nullptr) break;
    try {
      check_meeting(block);
    } catch (const std::logic_error&) {
      failure = std::current_exception();
      break;
    }
  }
  for (Thread& self : block.threads)
    if (!self.done && self.self)
      enter(self, [](Thread& entered) { entered.self = context::fiber(); });
  t_block = nullptr;
  if (failure != nullptr) std::rethrow_exception(failure);
}

}  // namespace

void run(dim3 grid, dim3 size, std::size_t shared_bytes, const std::function<void()>& thread) {
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;  // NAVTALK_LAUNCH of nothing
  check_limits(grid, size, shared_bytes);
  static std::mutex one_at_a_time;  // shared memory is the program's
  const std::lock_guard lock(one_at_a_time);
  for (unsigned z = 0; z < grid.z; ++z)
    for (unsigned y = 0; y < grid.y; ++y)
      for (unsigned x = 0; x < grid.x; ++x) {
        Block block;
        block.grid = grid;
        block.size = size;
        block.index = {x, y, z};
        block.threads.resize(std::size_t{size.x} * size.y * size.z);
        block.shared = std::make_unique<unsigned char[]>(shared_bytes);
        run_block(block, thread);
      }
}

const uint3& thread_index() { return running().index; }
const uint3& block_index() { return block().index; }
const dim3& block_size() { return block().size; }
const dim3& grid_size() { return block().grid; }
unsigned char* dynamic_shared() { return block().shared.get(); }
unsigned lane() { return static_cast<unsigned>(block().running % k_warp); }

void meet(Meeting meeting) {
  Thread& self = running();
  self.waits_at = meeting;
  leaving(&self.kept, t_scheduler);
  struct Return {  // also when the block is ended early, which unwinds this stack
    Thread& thread;
    ~Return() { arrived(thread.kept, &t_scheduler); }
  } const comes_back{self};
  self.caller = std::move(self.caller).resume();
}

std::uint64_t exchange(unsigned mask, std::uint64_t value, unsigned from) {
  Block& all = block();
  const std::size_t self = all.running;
  if ((mask >> lane() & 1U) == 0)
    throw std::logic_error("a thread calls a shuffle whose mask lacks it");
  all.threads[self].mask = mask;
  all.threads[self].brought = value;
  meet(Meeting::shuffle);
  const std::size_t source = self / k_warp * k_warp + from % k_warp;
  const std::uint64_t got =
      from < k_warp && source < all.threads.size() ? all.threads[source].brought : value;
  meet(Meeting::shuffle);  // nobody overwrites what others have not read yet
  return got;
}

}  // namespace navtalk::emulation
