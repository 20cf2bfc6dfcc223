// Rows and claimants for the contract's tests.
#pragma once

#include <string>

#include "scheduler/pool/pool_store.h"
#include "tests/scheduler/store/store_place.h"

namespace navtalk::tests {

inline const Cause k_test{"test", "to see what happens"};
inline constexpr Duration k_minute = std::chrono::minutes(1);
// Over before the next call.
inline constexpr Duration k_moment{0};

inline Gpu gpu_row(const std::string& id, State state = State::idle, int slots = 1) {
  return {.id = {id}, .name = "navtalk-test-" + id, .state = state, .slots = slots};
}
inline Gpu add(PoolStore& store, const Gpu& gpu) {
  const auto row = store.add({.gpu = gpu}, k_test);
  REQUIRE(row);
  return *row;
}
inline Gpu change(PoolStore& store, GpuChange what) {
  const auto row = store.change(what, k_test);
  REQUIRE(row);
  return *row;
}
inline Gpu found(PoolStore& store, const std::string& id) {
  const auto row = store.find({id});
  REQUIRE(row);
  return *row;
}
inline Claimant user(const std::string& id, const std::string& tenant = {}) {
  return {.id = {id}, .tenant = {tenant}, .gateway = "gateway-1"};
}
inline Lease claimed(PoolStore& store, const Claimant& claimant) {
  const auto lease = store.claim(claimant, k_minute);
  REQUIRE(lease);
  return *lease;
}

}  // namespace navtalk::tests
