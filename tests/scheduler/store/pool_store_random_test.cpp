// The store's contract: after any sequence of events the pool's invariants hold.
#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <random>
#include <set>

#include "core/base/error.h"
#include "tests/scheduler/store/pool_store_contract.h"

using namespace navtalk;
using namespace navtalk::tests;

namespace {

constexpr int k_tenants = 3, k_queue = 6, k_max_sessions = 3;

// Does random things to a store, and remembers what the store must not have changed by itself.
class Walk {
 public:
  Walk(PoolStore& store, unsigned seed) : store_(store), random_(seed) {}

  void step() {
    static constexpr std::array k_steps = {
        &Walk::add_gpu,    &Walk::change_gpu,   &Walk::change_gpu, &Walk::stale_change,
        &Walk::remove_gpu, &Walk::claim,        &Walk::claim,      &Walk::claim,
        &Walk::arrive,     &Walk::arrive,       &Walk::leave,      &Walk::release,
        &Walk::release,    &Walk::late_release, &Walk::expire};
    before_ = store_.view();
    std::invoke(k_steps[below(k_steps.size())], this);
    check();
  }

 private:
  std::size_t below(std::size_t n) { return random_() % n; }
  bool chance(std::size_t in) { return below(in) == 0; }

  Claimant claimant(int number) {
    const int tenant = number % k_tenants;
    return {.id = {"u" + std::to_string(number)},
            .tenant = {"t" + std::to_string(tenant)},
            .plan = number % 5 == 0 ? 1 : 0,
            .weight = tenant + 1.0,
            .gateway = "g",
            .max_sessions = tenant == 0 ? k_max_sessions : 0};
  }
  const Gpu* any_gpu() {
    return before_.gpus.empty() ? nullptr : &before_.gpus[below(before_.gpus.size())];
  }

  void add_gpu() {
    if (before_.gpus.size() >= 8) return;
    Gpu gpu = gpu_row("g" + std::to_string(++made_), static_cast<State>(below(2) * 2),
                      static_cast<int>(1 + below(3)));
    gpu.source = static_cast<Source>(below(3));
    if (chance(4)) gpu.dedicated_to = {"t1"};
    add(store_, gpu);
  }

  void change_gpu() {
    const Gpu* gpu = any_gpu();
    if (gpu == nullptr) return;
    GpuChange change{.id = gpu->id, .version = gpu->version};
    if (chance(4)) {
      change.draining = !gpu->draining;
    } else {
      change.event = static_cast<Event>(below(k_events));
      if (*change.event == Event::fail && !chance(3)) change.event = Event::ready;
    }
    const bool claims = change.event == Event::session_opened || change.event == Event::emptied;
    const bool may = !change.event || (!claims && next(gpu->state, *change.event));
    bool done = false;
    try {
      done = store_.change(change, k_test).has_value();
    } catch (const Error&) {
      // what the state machine forbids
    }
    CHECK(done == may);
  }
  void stale_change() {
    if (const Gpu* gpu = any_gpu()) {
      CHECK(!store_.change({.id = gpu->id, .version = gpu->version - 1, .draining = true}, k_test));
    }
  }
  void remove_gpu() {
    const Gpu* gpu = any_gpu();
    if (gpu == nullptr) return;
    const bool over = gpu->state == State::failed || gpu->state == State::stopping;
    const bool may = (over || gpu->source == Source::external) && gpu->sessions == 0;
    bool done = false;
    try {
      done = store_.remove(gpu->id, gpu->version, k_test);
    } catch (const Error&) {
      // what is in use
    }
    CHECK(done == may);
  }

  void claim() {
    const int number = chance(2) && !before_.waiters.empty() ? -1 : ++users_;
    const Claimant who =
        number < 0 ? before_.waiters[below(before_.waiters.size())].claimant : claimant(number);
    const auto lease = store_.claim(who, chance(8) ? k_moment : k_minute);
    if (!lease) return;
    auto& last = epochs_[lease->gpu.text];
    CHECK(lease->epoch > last);
    last = lease->epoch;
    const auto gpu = std::find_if(before_.gpus.begin(), before_.gpus.end(),
                                  [&](const Gpu& one) { return one.id == lease->gpu; });
    REQUIRE(gpu != before_.gpus.end());
    CHECK(claimable(*gpu, who.tenant));
    // 7: whoever has a slot does not wait any more.
    const PoolView after = store_.view();
    CHECK(std::none_of(after.waiters.begin(), after.waiters.end(),
                       [&](const Waiter& waiter) { return waiter.claimant.id == who.id; }));
  }
  void arrive() {
    const auto position =
        store_.enqueue(claimant(++users_), k_queue, chance(8) ? k_moment : k_minute);
    CHECK((position.has_value() || before_.waiters.size() >= k_queue));
  }
  void leave() {
    if (!before_.waiters.empty()) {
      store_.leave(before_.waiters[below(before_.waiters.size())].claimant.id);
    }
  }
  void release() {
    const auto leases = store_.leases();
    if (leases.empty()) return;
    const Lease& lease = leases[below(leases.size())];
    CHECK(store_.release(lease.id, lease.epoch));
    old_.push_back(lease);
  }
  void late_release() {
    if (!old_.empty()) {
      const Lease& lease = old_[below(old_.size())];
      CHECK(!store_.release(lease.id, lease.epoch));
    }
  }
  void expire() {
    for (const Lease& lease : store_.expire()) old_.push_back(lease);
  }

  // The numbers are those of docs/decisions/0007-pool-store.md.
  void check() {
    const PoolView view = store_.view();
    const auto leases = store_.leases();
    std::map<std::string, int> held;
    std::set<std::pair<std::string, int>> slots;
    std::map<std::string, int> of_tenant;
    for (const Lease& lease : leases) {
      ++held[lease.gpu.text];
      ++of_tenant[lease.tenant.text];
      CHECK(slots.emplace(lease.gpu.text, lease.slot).second);  // 1: a slot has one session
      CHECK(lease.slot >= 0);
    }
    CHECK(of_tenant["t0"] <= k_max_sessions);
    for (const Gpu& gpu : view.gpus) {
      INFO(gpu.id.text << " " << name(gpu.state) << " " << gpu.sessions);
      CHECK(gpu.sessions == held[gpu.id.text]);  // 3: the counts are the records
      CHECK(gpu.sessions <= gpu.slots);
      CHECK((gpu.state != State::idle || gpu.sessions == 0));
      CHECK((gpu.state != State::running || gpu.sessions > 0));
      held.erase(gpu.id.text);
      check_step(gpu);
    }
    CHECK(held.empty());                    // 2: nothing claimed is removed
    CHECK(view.waiters.size() <= k_queue);  // 13: the queue is bounded
    check_queue(view);
  }

  // 1, 2: no state but by the state machine; a busy GPU is not stopped by anyone.
  void check_step(const Gpu& after) {
    const auto before = std::find_if(before_.gpus.begin(), before_.gpus.end(),
                                     [&](const Gpu& one) { return one.id == after.id; });
    if (before == before_.gpus.end()) return;
    CHECK(after.version >= before->version);
    CHECK((after == *before) == (after.version == before->version));
    if (after.state == State::stopping && before->state != State::stopping) {
      CHECK(before->state != State::running);
    }
  }

  // 13: nobody's position rises, but by newcomers of a higher plan or a smaller tag.
  void check_queue(const PoolView& view) {
    std::vector<std::string> stayed, were;
    std::set<std::string> now, then;
    for (const Waiter& waiter : view.waiters) now.insert(waiter.claimant.id.text);
    for (const Waiter& waiter : before_.waiters) then.insert(waiter.claimant.id.text);
    for (const Waiter& waiter : view.waiters) {
      if (then.contains(waiter.claimant.id.text)) stayed.push_back(waiter.claimant.id.text);
    }
    for (const Waiter& waiter : before_.waiters) {
      if (now.contains(waiter.claimant.id.text)) were.push_back(waiter.claimant.id.text);
    }
    CHECK(stayed == were);
    for (std::size_t i = 1; i < view.waiters.size(); ++i) {
      const Waiter &a = view.waiters[i - 1], &b = view.waiters[i];
      CHECK((a.claimant.plan > b.claimant.plan ||
             (a.claimant.plan == b.claimant.plan && a.tag <= b.tag)));
    }
  }

  PoolStore& store_;
  std::minstd_rand random_;
  PoolView before_;
  int made_ = 0, users_ = 0;
  std::map<std::string, std::uint64_t> epochs_;
  std::vector<Lease> old_;
};

}  // namespace

STORE_TEST("after any sequence of events the pool's invariants hold") {
  for (unsigned seed = 1; seed <= 4; ++seed) {
    const TestType place;
    const auto store = place.open();
    Walk walk(*store, seed);
    for (int i = 0; i < 250; ++i) {
      INFO("seed " << seed << ", step " << i);
      walk.step();
    }
  }
}
