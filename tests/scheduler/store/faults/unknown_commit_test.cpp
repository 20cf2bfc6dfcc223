// A COMMIT whose answer is lost: what was asked for happens once, whichever way it went.
#include <functional>
#include <utility>

#include "core/base/error.h"
#include "tests/core/expect_error.h"
#include "tests/scheduler/store/pool_store_contract.h"
#include "tests/scheduler/store/processes/cutting_proxy.h"

using namespace navtalk;
using namespace navtalk::tests;

namespace {

using Cut = CuttingProxy::Cut;

// A schema that is reached through a proxy.
class CutPlace {
 public:
  CutPlace() : url_(place_.url()) {
    const std::string host = PostgresPlace::server().folder().native();
    url_.replace(url_.find(host), host.size(), proxy_.folder());
    store_ = PoolStore::open(url_);
  }

  PoolStore& store() { return *store_; }
  // The same tables, past the proxy.
  std::unique_ptr<PoolStore> direct() const { return place_.open(); }
  CuttingProxy& proxy() { return proxy_; }
  // Is `work` cut, once?
  void cut_in(Cut cut, const std::function<void()>& work) {
    const int before = proxy_.cuts();
    proxy_.cut_next(cut);
    work();
    CHECK(proxy_.cuts() == before + 1);
  }

 private:
  PostgresPlace place_;
  CuttingProxy proxy_{PostgresPlace::server().folder()};
  std::string url_;
  std::unique_ptr<PoolStore> store_;
};

int events_of(PoolStore& store, const char* gpu) {
  return static_cast<int>(store.events({.gpu = GpuId{gpu}}).size());
}

}  // namespace

TEST_CASE("a COMMIT without an answer makes every change once") {
  if (!PostgresPlace::there()) return;
  const Cut cut = GENERATE(Cut::before_commit, Cut::after_commit);
  CutPlace place;
  PoolStore& store = place.store();

  place.cut_in(cut, [&] { add(store, gpu_row("a", State::idle, 2)); });
  CHECK(store.view().gpus.size() == 1);
  CHECK(events_of(store, "a") == 1);

  std::optional<Lease> lease;
  place.cut_in(cut, [&] { lease = store.claim(user("u"), k_minute); });
  REQUIRE(lease);
  CHECK(store.leases() == std::vector{*lease});
  CHECK(found(store, "a").sessions == 1);

  place.cut_in(cut, [&] { CHECK(store.enqueue(user("w"), 10, k_minute) == 1); });
  CHECK(store.view().waiters.size() == 1);
  place.cut_in(cut, [&] { store.leave({"w"}); });
  CHECK(store.view().waiters.empty());

  place.cut_in(cut, [&] { CHECK(store.renew("gateway-1", k_minute).leases.size() == 1); });
  place.cut_in(cut, [&] { CHECK(store.release(lease->id, lease->epoch)); });
  CHECK(store.leases().empty());
  CHECK(found(store, "a").sessions == 0);

  const std::uint64_t version = found(store, "a").version;
  std::optional<Gpu> changed;
  const GpuChange pause{.id = {"a"}, .version = version, .event = Event::pause};
  place.cut_in(cut, [&] { changed = store.change(pause, {"test", "pause"}); });
  REQUIRE(changed);
  CHECK(changed->version == version + 1);
  CHECK(found(store, "a") == *changed);

  place.cut_in(cut, [&] { store.record(Attempt{.at = store.now(), .gpu = {"a"}}); });
  CHECK(store.attempts({}).size() == 1);
  place.cut_in(cut, [&] { CHECK(store.swap_setting("x", std::nullopt, "1")); });
  CHECK(store.setting("x") == "1");

  place.cut_in(cut, [&] { CHECK(store.remove({"a"}, version + 1, {"test", "gone"})); });
  CHECK(store.view().gpus.empty());
}

TEST_CASE("a COMMIT without an answer and without a server says so, and asking again is safe") {
  if (!PostgresPlace::there()) return;
  const Cut cut = GENERATE(Cut::before_commit, Cut::after_commit);
  CutPlace place;
  PoolStore& store = place.store();
  add(store, gpu_row("a", State::idle, 2));
  place.proxy().cut_next(cut, true);
  test::expect_error(Code::failed, {"not known"}, [&] { store.claim(user("u"), k_minute); });
  test::expect_error(Code::failed, {"PostgreSQL"}, [&] { store.claim(user("u"), k_minute); });
  place.proxy().come_back();
  const Lease lease = claimed(store, user("u"));
  CHECK(store.leases() == std::vector{lease});
  CHECK(found(store, "a").sessions == 1);
  CHECK(place.direct()->leases() == std::vector{lease});
}
