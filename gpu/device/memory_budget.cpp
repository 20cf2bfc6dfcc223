#include "gpu/device/memory_budget.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace navtalk {

std::string_view name(MemoryUser user) {
  constexpr std::array<std::string_view, k_memory_users.size()> names = {
      "nets", "batches", "avatars", "sessions", "jobs"};
  return names[static_cast<std::size_t>(user)];
}

std::uint64_t MemoryLedger::all_reserved() const {
  return std::accumulate(reserved.begin(), reserved.end(), std::uint64_t{0});
}

std::uint64_t MemoryLedger::committed(MemoryUser user, std::uint64_t more) const {
  const bool for_job = user == MemoryUser::jobs;
  const std::uint64_t jobs = of(MemoryUser::jobs);
  const std::uint64_t here = all_reserved() - jobs + (for_job ? 0 : more);
  const std::uint64_t others = measured.used - std::min(measured.own, measured.used);
  return std::max(others, others_alone + jobs + (for_job ? more : 0)) +
         std::max(measured.own, here);
}

std::uint64_t MemoryLedger::limit() const {
  return static_cast<std::uint64_t>(static_cast<double>(measured.total) * MemoryBudget::k_fullest);
}

MemoryReservation::MemoryReservation(MemoryReservation&& other) noexcept
    : ledger_(std::exchange(other.ledger_, nullptr)),
      user_(other.user_),
      bytes_(std::exchange(other.bytes_, 0)) {}

MemoryReservation& MemoryReservation::operator=(MemoryReservation&& other) noexcept {
  if (this == &other) return *this;
  give_back();
  ledger_ = std::exchange(other.ledger_, nullptr);
  user_ = other.user_;
  bytes_ = std::exchange(other.bytes_, 0);
  return *this;
}

MemoryReservation::~MemoryReservation() { give_back(); }

void MemoryReservation::give_back() {
  if (!ledger_) return;
  ledger_->with(
      [this](MemoryLedger& all) { all.reserved[static_cast<std::size_t>(user_)] -= bytes_; });
  ledger_ = nullptr;
}

void MemoryBudget::note(const DeviceMemory& measured) {
  ledger_->with([&measured](MemoryLedger& all) {
    all.measured = measured;
    if (all.of(MemoryUser::jobs) == 0)
      all.others_alone = measured.used - std::min(measured.own, measured.used);
  });
}

std::optional<MemoryReservation> MemoryBudget::reserve(MemoryUser user, std::uint64_t bytes) {
  const bool fits = ledger_->with([user, bytes](MemoryLedger& all) {
    if (all.measured.total > 0 && all.committed(user, bytes) > all.limit()) {
      ++all.refused;
      return false;
    }
    all.reserved[static_cast<std::size_t>(user)] += bytes;
    return true;
  });
  if (!fits) return std::nullopt;
  return MemoryReservation(ledger_, user, bytes);
}

std::uint64_t MemoryBudget::room() const {
  return ledger_->with([](const MemoryLedger& all) {
    const std::uint64_t taken = all.committed();
    return all.limit() - std::min(taken, all.limit());
  });
}

MemoryLedger MemoryBudget::ledger() const {
  return ledger_->with([](const MemoryLedger& all) { return all; });
}

}  // namespace navtalk
