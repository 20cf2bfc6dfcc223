// A store whose database can be away for a while, or answer late. While it is away, calls that change
// something fail, as those of a real one do.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/base/error.h"
#include "tests/scheduler/dying_store.h"

namespace navtalk::tests {

class AwayStore : public DyingStore {
 public:
  explicit AwayStore(PoolStore& store) : DyingStore(store, 0) {}

  void set_away(bool away) { away_ = away; }
  // Calls that failed.
  int failed() const { return failed_; }
  // Claims reach the store from now on, but their answers are held, or lost; or no longer.
  enum class Answers : std::uint8_t { come, are_held, are_lost };
  void set_claims(Answers answers) {
    claims_ = answers;
    claims_.notify_all();
  }
  // Those that were answered.
  int renewals() const { return renewals_; }

  std::optional<Lease> claim(const Claimant& claimant, Duration lease) override {
    const std::optional<Lease> claimed = DyingStore::claim(claimant, lease);
    claims_.wait(Answers::are_held);
    if (claims_ == Answers::are_lost) throw Error(Code::failed, "the test's store does not answer");
    return claimed;
  }
  Renewal renew(const std::string& gateway, Duration alive) override {
    const Renewal renewed = DyingStore::renew(gateway, alive);
    ++renewals_;
    return renewed;
  }

 private:
  PoolStore& writing() override {
    if (!away_) return store_;
    ++failed_;
    throw Error(Code::failed, "the test's store is away");
  }

  std::atomic<bool> away_ = false;
  std::atomic<Answers> claims_ = Answers::come;
  std::atomic<int> failed_ = 0, renewals_ = 0;
};

}  // namespace navtalk::tests
