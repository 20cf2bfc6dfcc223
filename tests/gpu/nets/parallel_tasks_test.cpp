// Pieces of work on threads of their own.
#include "gpu/kernels/parallel_tasks.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <stdexcept>

namespace navtalk {

using kernels::for_each_parallel;

TEST_CASE("every piece is done once, whatever the number of threads") {
  const int threads = GENERATE(1, 2, 3);
  const std::int64_t pieces = GENERATE(0, 1, 2, 7);
  std::mutex mutex;
  std::multiset<std::int64_t> done;
  for_each_parallel(pieces, threads, [&](std::int64_t i) {
    const std::lock_guard lock(mutex);
    done.insert(i);
  });
  CHECK(done.size() == static_cast<std::size_t>(pieces));
  for (std::int64_t i = 0; i < pieces; ++i) CHECK(done.count(i) == 1);
}

TEST_CASE("two pieces run at the same time") {
  std::mutex mutex;
  std::condition_variable began;
  int begun = 0, met = 0;
  for_each_parallel(2, 2, [&](std::int64_t) {
    std::unique_lock lock(mutex);
    ++begun;
    began.notify_all();
    if (began.wait_for(lock, std::chrono::seconds(20), [&] { return begun == 2; })) ++met;
  });
  CHECK(met == 2);
}

TEST_CASE("a piece's exception reaches the caller") {
  const int threads = GENERATE(1, 2);
  CHECK_THROWS_WITH(for_each_parallel(4, threads,
                                      [](std::int64_t i) {
                                        if (i == 2) throw std::runtime_error("piece 2");
                                      }),
                    "piece 2");
}

}  // namespace navtalk
