// A store whose database can be away for a while: calls that change something fail then, as those of
// a real one do.
#pragma once

#include <atomic>

#include "core/base/error.h"
#include "tests/scheduler/dying_store.h"

namespace navtalk::tests {

class AwayStore : public DyingStore {
 public:
  explicit AwayStore(PoolStore& store) : DyingStore(store, 0) {}

  void set_away(bool away) { away_ = away; }
  // Calls that failed.
  int failed() const { return failed_; }

 private:
  PoolStore& writing() override {
    if (!away_) return store_;
    ++failed_;
    throw Error(Code::failed, "the test's store is away");
  }

  std::atomic<bool> away_ = false;
  std::atomic<int> failed_ = 0;
};

}  // namespace navtalk::tests
