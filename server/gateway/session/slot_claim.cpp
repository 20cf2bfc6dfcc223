#include "server/gateway/session/slot_claim.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/id.h"
#include "core/log/log.h"

namespace navtalk::server {
namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr auto k_release_retry = 1s;  // of a release, while the store is away
constexpr auto k_refuse = 1s, k_refuse_most = 8s;

}  // namespace

SlotClaim::SlotClaim(Allocator& allocator, BlockingThreads& threads, Signal& changed, Claimant who)
    : allocator_(allocator), threads_(threads), changed_(changed), claimant_(std::move(who)) {
  claimant_.id = WaiterId{random_id()};
}

asio::awaitable<Allocation> SlotClaim::ask(Allocation (Allocator::*question)(Claimant)) {
  claimant_.refuse.clear();
  for (const auto& [gpu, refusal] : refusals_) {
    if (Signal::Clock::now() < refusal.until) claimant_.refuse.push_back(gpu);
  }
  const Claimant claimant = claimant_;
  if (!unsettled_since_) unsettled_since_ = Signal::Clock::now();
  const auto asked_at = *unsettled_since_;
  // By reference: g++ 12 destroys a temporary lambda's copies twice.
  Allocation answer = co_await threads_.run(
      [this, question, &claimant] { return (allocator_.*question)(claimant); });
  unsettled_since_.reset();
  if (const auto* lease = std::get_if<Lease>(&answer)) {
    lease_ = *lease;
    asked_at_ = asked_at;
    lease_lost_ = false;  // that was another lease
    if (!claimant_.came_at) claimant_.came_at = lease->arrived_at;
  }
  const auto* const waiting = std::get_if<Waiting>(&answer);
  if (waiting != nullptr && !claimant_.lost_gpu_at) claimant_.came_at = waiting->since;
  co_return answer;
}

asio::awaitable<Allocation> SlotClaim::arrive() {
  arrived_ = true;
  return ask(&Allocator::arrive);
}

asio::awaitable<Allocation> SlotClaim::check() { return ask(&Allocator::check); }

asio::awaitable<Allocation> SlotClaim::borrow() { return ask(&Allocator::borrow); }

void SlotClaim::served() {
  threads_.post([&allocator = allocator_, lease = *lease_] {
    try {
      allocator.connected(lease);
    } catch (const std::exception& error) {
      log::warn("the next GPU could not be prepared", {{"error", error.what()}});
    }
  });
}

asio::awaitable<void> SlotClaim::give_up() {
  const Lease lease = *lease_;
  try {
    co_await threads_.run([this, &lease] { allocator_.unclaim(lease); });
    lease_.reset();
  } catch (const Error& error) {
    log::warn("a lease could not be given up", {{"gpu", lease.gpu.text}, {"error", error.what()}});
  }
}

void SlotClaim::lose_gpu() {
  ending_ = std::exchange(lease_, std::nullopt);
  lease_lost_ = false;
}

asio::awaitable<void> SlotClaim::end_lease() {
  const Lease lease = *ending_;
  claimant_.lost_gpu_at =
      co_await threads_.run([this, &lease] { return allocator_.release_lost(lease); });
  ending_.reset();
}

void SlotClaim::refuse(const GpuId& gpu) {
  Refusal& refusal = refusals_[gpu];
  refusal.lasts = std::clamp<Signal::Clock::duration>(2 * refusal.lasts, k_refuse, k_refuse_most);
  refusal.until = Signal::Clock::now() + refusal.lasts;
}

void SlotClaim::mark_lease_lost() {
  lease_lost_ = true;
  changed_.notify();
}

std::function<void()> SlotClaim::pending_release() const {
  const std::optional<Lease>& held = ending_ ? ending_ : lease_;
  if (held) {
    return [&allocator = allocator_, lease = *held] { allocator.release(lease); };
  }
  if (!arrived_) return {};
  return [&allocator = allocator_, waiter = claimant_.id] { allocator.leave(waiter); };
}

asio::awaitable<void> SlotClaim::release() {
  const auto until = Signal::Clock::now() + allocator_.options().lease;
  for (bool told = false;; told = true) {
    const std::function<void()> work = pending_release();
    if (!work) co_return;
    std::string problem;
    try {
      co_await threads_.run(work);
      if (ending_) {
        ending_.reset();  // a place in the queue, or another lease, may be left
        continue;
      }
      lease_.reset();
      arrived_ = false;
      co_return;
    } catch (const std::exception& error) {
      problem = error.what();
    }
    if (Signal::Clock::now() >= until) {
      log::warn("a lease is left to expire", {{"error", problem}});
      co_return;
    }
    if (!told) log::warn("a slot is released when the store answers", {{"error", problem}});
    co_await changed_.wait(Signal::Clock::now() + k_release_retry);
  }
}

}  // namespace navtalk::server
