// The store's contract: many threads and processes at once.
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "core/base/error.h"
#include "core/base/guarded.h"
#include "core/database/sqlite.h"
#include "tests/scheduler/store/pool_store_contract.h"
#include "tests/scheduler/store/processes/child.h"

using namespace navtalk;
using namespace navtalk::tests;

namespace {

template <class F>
void in_threads(int count, F&& work) {
  std::vector<std::jthread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back([&work, i] { work(i); });
}

using Slot = std::pair<std::string, int>;

std::multiset<Slot> slots_of(const std::vector<Lease>& leases) {
  std::multiset<Slot> slots;
  for (const Lease& lease : leases) slots.emplace(lease.gpu.text, lease.slot);
  return slots;
}

bool none_twice(const std::multiset<Slot>& slots) {
  return std::set(slots.begin(), slots.end()).size() == slots.size();
}

// GPUs with 1 to 4 slots; how many slots in all.
int add_gpus(PoolStore& store, int gpus) {
  int slots = 0;
  for (int i = 0; i < gpus; ++i) {
    add(store, gpu_row("g" + std::to_string(i), State::idle, i % 4 + 1));
    slots += i % 4 + 1;
  }
  return slots;
}

// What must hold of every pool: sessions counted right, states that fit, each slot leased once.
void check_counts(PoolStore& store) {
  const auto leases = store.leases();
  std::map<std::string, int> held;
  for (const Lease& lease : leases) ++held[lease.gpu.text];
  CHECK(none_twice(slots_of(leases)));
  for (const Gpu& gpu : store.view().gpus) {
    INFO(gpu.id.text);
    CHECK(gpu.sessions == held[gpu.id.text]);
    CHECK(gpu.sessions <= gpu.slots);
    CHECK((gpu.state == State::running) == (gpu.sessions > 0));
  }
}

void check_file(const SqlitePlace& place) {
  SqliteConnection db(place.file(), std::chrono::seconds(5));
  const auto rows = db.query("PRAGMA integrity_check", {});
  REQUIRE(rows->next());
  CHECK(rows->text(0) == "ok");
}
void check_file(const PostgresPlace&) {}

Child claim_process(const std::string& url, const std::string& mode, int number,
                    const std::string& seconds = "1") {
  return Child({NAVTALK_CLAIM_PROCESS, url, mode, "p" + std::to_string(number), seconds});
}

}  // namespace

STORE_TEST("of many changes of one row at one version, one succeeds") {
  const TestType place;
  const auto store = place.open();
  add(*store, gpu_row("a"));
  for (std::uint64_t version = 1; version <= 5; ++version) {
    std::atomic<int> won = 0;
    in_threads(8, [&](int i) {
      const auto row =
          store->change({.id = {"a"}, .version = version, .last_error = std::to_string(i)}, k_test);
      if (row) ++won;
    });
    CHECK(won == 1);
  }
}

STORE_TEST("of claims and pauses of one GPU at the same time, one side wins") {
  const TestType place;
  const auto store = place.open();
  for (int round = 0; round < 10; ++round) {
    const std::string id = "g" + std::to_string(round);
    add(*store, gpu_row(id));
    std::atomic<int> leased = 0, paused = 0;
    in_threads(8, [&](int i) {
      const std::string name = std::to_string(round) + "-" + std::to_string(i);
      if (i % 2 == 0) {
        if (store->claim(user(name), k_minute)) ++leased;
      } else if (store->change({.id = {id}, .version = 1, .event = Event::pause}, k_test)) {
        ++paused;
      }
    });
    CHECK(leased + paused == 1);
    CHECK(found(*store, id).state == (leased == 1 ? State::running : State::stopping));
  }
}

STORE_TEST("sixteen threads that claim N slots get exactly N sessions, none twice") {
  const TestType place;
  const auto store = place.open();
  const int slots = add_gpus(*store, 30);
  std::atomic<int> granted = 0;
  in_threads(16, [&](int thread) {
    for (int i = 0;; ++i) {
      if (!store->claim(user(std::to_string(thread) + "-" + std::to_string(i)), k_minute)) break;
      ++granted;
    }
  });
  CHECK(granted == slots);
  CHECK(store->leases().size() == static_cast<std::size_t>(slots));
  check_counts(*store);
}

STORE_TEST("sixteen processes that claim N slots get exactly N sessions, none twice") {
  const TestType place;
  const auto store = place.open();
  const int slots = add_gpus(*store, 40);
  std::vector<Child> processes;
  for (int i = 0; i < 16; ++i) processes.push_back(claim_process(place.url(), "take", i));
  for (Child& process : processes) REQUIRE(process.line() == "ready");
  for (Child& process : processes) process.say("go");
  std::multiset<std::string> leases;
  for (Child& process : processes) {
    for (const std::string& line : process.rest()) leases.insert(line);
    CHECK(process.wait() == 0);
  }
  CHECK(leases.size() == static_cast<std::size_t>(slots));
  CHECK(std::set(leases.begin(), leases.end()).size() == leases.size());
  check_counts(*store);
}

STORE_TEST("one claimant that asks from many threads holds one slot") {
  const TestType place;
  const auto store = place.open();
  add_gpus(*store, 8);
  Guarded<std::set<std::string>> leases;
  in_threads(8, [&](int) {
    const auto lease = store->claim(user("u"), k_minute);
    leases.with([&](auto& ids) { ids.insert(lease ? lease->id.text : "none"); });
  });
  CHECK(leases.with([](const auto& ids) { return ids.size(); }) == 1);
  CHECK(store->leases().size() == 1);
}

STORE_TEST("a cap holds against many adds at once") {
  const TestType place;
  const auto store = place.open();
  std::atomic<int> added = 0;
  in_threads(8, [&](int thread) {
    for (int i = 0; i < 3; ++i) {
      Gpu gpu = gpu_row(std::to_string(thread) + "-" + std::to_string(i));
      gpu.usd_per_hour = 0.5;
      if (store->add({.gpu = gpu, .max_gpus = 7, .max_usd_per_hour = 3}, k_test)) ++added;
    }
  });
  CHECK(added == 6);  // 3 USD
  CHECK(store->view().gpus.size() == 6);
}

STORE_TEST("a cap holds against many prices at once") {
  const TestType place;
  const auto store = place.open();
  for (int i = 0; i < 8; ++i) {
    Gpu gpu = gpu_row(std::to_string(i));
    gpu.usd_per_hour = 0.25;
    add(*store, gpu);
  }
  std::atomic<int> raised = 0;
  in_threads(8, [&](int thread) {
    const GpuId id{std::to_string(thread)};
    if (store->change({.id = id, .version = 1, .usd_per_hour = 1, .max_usd_per_hour = 4}, k_test))
      ++raised;
  });
  CHECK(raised == 2);  // 2 x 1 + 6 x 0.25
}

STORE_TEST("of many scalers one holds the lease") {
  const TestType place;
  const auto store = place.open();
  std::atomic<int> holders = 0;
  in_threads(8, [&](int i) {
    if (store->hold_scaler("scaler " + std::to_string(i), k_minute)) ++holders;
  });
  CHECK(holders == 1);
}

STORE_TEST("processes that open a new store at once find it complete") {
  const TestType place;
  std::vector<Child> processes;
  for (int i = 0; i < 8; ++i) processes.push_back(claim_process(place.url(), "take", i));
  for (Child& process : processes) {
    CHECK(process.line() == "ready");
    process.say("go");
    CHECK(process.wait() == 0);
  }
  CHECK(place.open()->view().gpus.empty());
}

STORE_TEST("claims that are killed anywhere lease no slot twice and lose none") {
  const TestType place;
  const auto store = place.open();
  const int slots = add_gpus(*store, 6);
  std::minstd_rand random(1);
  for (int round = 0; round < 12; ++round) {
    std::vector<Child> processes;
    for (int i = 0; i < 4; ++i) {
      processes.push_back(claim_process(place.url_of_another(), "churn", round * 10 + i, "60"));
    }
    for (Child& process : processes) REQUIRE(process.line() == "ready");
    for (Child& process : processes) process.say("go");
    // Let them go for some hundreds of claims, then end them wherever they are.
    const auto epochs = [&] {
      std::uint64_t sum = 0;
      for (const Gpu& gpu : store->view().gpus) sum += gpu.epoch % (1 << 20);  // its claims
      return sum;
    };
    const std::uint64_t enough = epochs() + 50 + random() % 100;
    for (std::uint64_t seen = 0; epochs() < enough;) {
      seen = store->wait_for_change(seen, k_minute, {});
    }
    for (const Child& process : processes) process.signal(SIGKILL);
    for (Child& process : processes) CHECK(process.wait() == 128 + SIGKILL);
    place.wait_for_the_killed();
    check_counts(*store);
    const auto left = store->leases();
    CHECK(left.size() <= 4);
    for (const Lease& lease : left) CHECK(store->release(lease.id, lease.epoch));
  }
  int granted = 0;
  while (store->claim(user("last-" + std::to_string(granted)), k_minute)) ++granted;
  CHECK(granted == slots);
  check_file(place);
}

STORE_TEST("of many registrations of one worker at once, one succeeds") {
  const TestType place;
  const auto store = place.open();
  std::atomic<int> added = 0, refused = 0;
  in_threads(8, [&](int i) {
    Gpu gpu = gpu_row("g" + std::to_string(i));
    gpu.source = Source::external;
    gpu.url = i % 2 == 0 ? "http://127.0.0.1:2160" : "http://127.0.0.1:2160/";
    try {
      if (store->add({.gpu = gpu}, k_test)) ++added;
    } catch (const Error&) {
      ++refused;
    }
  });
  CHECK(added == 1);
  CHECK(refused == 7);
  CHECK(store->view().gpus.size() == 1);
}
