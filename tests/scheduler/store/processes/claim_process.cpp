// usage: claim_process URL take|churn NAME [SECONDS]   one gateway of many, for the store's tests
//
// Says "ready" when the store is open and waits for a line. take: claims until it gets nothing,
// says "lease GPU SLOT EPOCH" for each, keeps them. churn: claims and releases for SECONDS, then
// says "claims COUNT refused COUNT p50 US p99 US most US" of the claims.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "scheduler/pool/pool_store.h"

using namespace navtalk;

namespace {

using Clock = std::chrono::steady_clock;

Claimant claimant(const std::string& name, int number) {
  return {.id = {name + "-" + std::to_string(number)}, .tenant = {"acme"}, .gateway = name};
}

void take(PoolStore& store, const std::string& name) {
  for (int i = 0;; ++i) {
    const auto lease = store.claim(claimant(name, i), std::chrono::hours(1));
    if (!lease) return;
    std::cout << "lease " << lease->gpu.text << ' ' << lease->slot << ' ' << lease->epoch << '\n';
  }
}

void churn(PoolStore& store, const std::string& name, std::chrono::seconds time) {
  std::vector<std::int64_t> took;
  int refused = 0;
  const auto end = Clock::now() + time;
  for (int i = 0; Clock::now() < end; ++i) {
    const auto start = Clock::now();
    const auto lease = store.claim(claimant(name, i), std::chrono::hours(1));
    took.push_back(std::chrono::duration_cast<Duration>(Clock::now() - start).count());
    if (lease) {
      store.release(lease->id, lease->epoch);
    } else {
      ++refused;
    }
  }
  std::sort(took.begin(), took.end());
  const auto at = [&](std::size_t percent) { return took[(took.size() - 1) * percent / 100]; };
  std::cout << "claims " << took.size() - static_cast<std::size_t>(refused) << " refused "
            << refused << " p50 " << at(50) << " p99 " << at(99) << " most " << at(100) << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() < 3) return 2;
  try {
    const auto store = PoolStore::open(arguments[0]);
    std::cout << "ready" << std::endl;
    std::string line;
    if (!std::getline(std::cin, line)) return 0;
    if (arguments[1] == "take") {
      take(*store, arguments[2]);
    } else {
      churn(*store, arguments[2], std::chrono::seconds(std::stoi(arguments.at(3))));
    }
  } catch (const Error& error) {
    std::cerr << error.message() << '\n';
    return 1;
  }
  return 0;
}
