// A device of the test's own: what it has is what the test says.
#include "gpu/device/memory_budget.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>
#include <vector>

using namespace navtalk;

namespace {

MemoryBudget device(const DeviceMemory& memory) {
  MemoryBudget budget;
  budget.note(memory);
  return budget;
}

}  // namespace

TEST_CASE("nothing is reserved above 95 % of the device") {
  MemoryBudget budget = device({.total = 1000, .used = 500, .own = 100});
  CHECK(budget.room() == 450);
  const auto most = budget.reserve(MemoryUser::sessions, 550);  // of which 100 are there
  CHECK(most);
  CHECK(budget.room() == 0);
  CHECK_FALSE(budget.reserve(MemoryUser::sessions, 1));
  CHECK(budget.ledger().refused == 1);
  CHECK(budget.ledger().of(MemoryUser::sessions) == 550);
}

TEST_CASE("what ends gives back what it reserved, once") {
  MemoryBudget budget = device({.total = 1000});
  {
    auto first = budget.reserve(MemoryUser::sessions, 400);
    auto second = budget.reserve(MemoryUser::avatars, 500);
    REQUIRE((first && second));
    MemoryReservation moved = std::move(*first);
    CHECK(moved.bytes() == 400);
    CHECK(first->bytes() == 0);
    CHECK(budget.ledger().all_reserved() == 900);
    *second = std::move(moved);  // what it had is given back
    CHECK(budget.ledger().all_reserved() == 400);
    CHECK(budget.ledger().of(MemoryUser::avatars) == 0);
  }
  CHECK(budget.ledger().all_reserved() == 0);
}

TEST_CASE("a reservation may outlive its budget") {
  std::optional<MemoryReservation> left;
  {
    MemoryBudget budget = device({.total = 1000});
    left = budget.reserve(MemoryUser::sessions, 400);
  }
  CHECK(left->bytes() == 400);
}

TEST_CASE("what this process has and what it has reserved count once, the larger of both") {
  MemoryBudget budget = device({.total = 1000, .used = 300, .own = 300});
  const auto nets = budget.reserve(MemoryUser::nets, 300);
  CHECK(budget.ledger().committed() == 300);
  const auto batches = budget.reserve(MemoryUser::batches, 200);
  CHECK(budget.ledger().committed() == 500);
  budget.note({.total = 1000, .used = 450, .own = 450});  // a batch runs
  CHECK(budget.ledger().committed() == 500);
  budget.note({.total = 1000, .used = 700, .own = 700});  // more than anybody reserved
  CHECK(budget.ledger().committed() == 700);
  CHECK_FALSE(budget.reserve(MemoryUser::sessions, 451));
}

TEST_CASE("what other programs take leaves less") {
  MemoryBudget budget = device({.total = 1000, .used = 100});
  const auto one = budget.reserve(MemoryUser::sessions, 500);
  budget.note({.total = 1000, .used = 451});
  CHECK_FALSE(budget.reserve(MemoryUser::sessions, 0));
  budget.note({.total = 1000, .used = 450});
  CHECK(budget.reserve(MemoryUser::sessions, 0));
}

TEST_CASE("a job's process counts once, however much of its reservation it has taken") {
  MemoryBudget budget = device({.total = 1000, .used = 100});
  const auto job = budget.reserve(MemoryUser::jobs, 400);
  REQUIRE(job);
  for (const std::uint64_t taken : {0, 200, 400}) {
    budget.note({.total = 1000, .used = 100 + taken});
    CHECK(budget.ledger().committed() == 500);
  }
  budget.note({.total = 1000, .used = 600});  // it has more than it reserved
  CHECK(budget.ledger().committed() == 600);
}

TEST_CASE("without jobs all that other programs have counts, also what a job's process leaves") {
  MemoryBudget budget = device({.total = 1000, .used = 100});
  { const auto job = budget.reserve(MemoryUser::jobs, 400); }
  budget.note({.total = 1000, .used = 500});
  const auto next = budget.reserve(MemoryUser::jobs, 400);
  CHECK(next);
  CHECK(budget.ledger().committed() == 900);
}

TEST_CASE("on a device that tells nothing everything fits") {
  MemoryBudget budget;
  CHECK(budget.reserve(MemoryUser::sessions, std::uint64_t{1} << 50));
}

TEST_CASE("each user of memory has a name") {
  CHECK(name(MemoryUser::nets) == "nets");
  CHECK(name(MemoryUser::jobs) == "jobs");
}

TEST_CASE("threads that reserve at once never reserve too much, and give all of it back") {
  MemoryBudget budget = device({.total = 1000});
  std::atomic<std::uint64_t> taken = 0, most = 0;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&, thread] {
        const MemoryUser user = k_memory_users[static_cast<std::size_t>(thread)];
        for (int i = 0; i < 500; ++i) {
          const auto some = budget.reserve(user, 300);
          if (!some) continue;
          const std::uint64_t now = taken += 300;
          for (std::uint64_t before = most;
               before < now && !most.compare_exchange_weak(before, now);)
            continue;
          std::this_thread::yield();
          taken -= 300;
        }
      });
    }
  }
  CHECK(most <= 900);
  CHECK(most >= 300);
  CHECK(budget.ledger().all_reserved() == 0);
}
