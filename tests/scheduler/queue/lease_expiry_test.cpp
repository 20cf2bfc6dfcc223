#include "scheduler/queue/lease_expiry.h"

#include <future>
#include <nlohmann/json.hpp>
#include <thread>

#include "core/process/identity.h"
#include "scheduler/pool/settings.h"
#include "tests/scheduler/small_pool.h"
#include "tests/scheduler/store/pool_store_contract.h"

using namespace navtalk;
using namespace navtalk::tests;

namespace {

constexpr Duration k_lease = std::chrono::seconds(30);
constexpr Duration k_short_lease = std::chrono::seconds(6);  // half of it is the grace time
constexpr Duration k_hour = std::chrono::hours(1);

// As if a process had left marks until `last`, without a gap since `since`.
void watched(PoolStore& store, Duration last, Duration since) {
  const TimePoint now = store.now();
  const nlohmann::json mark = {{"last_us", (now - last).time_since_epoch().count()},
                               {"since_us", (now - since).time_since_epoch().count()}};
  store.set_setting(setting_name::k_expiry_watch, mark.dump());
}

Claimant user_of(const std::string& gateway, const std::string& id) {
  Claimant claimant = user(id);
  claimant.gateway = gateway;
  return claimant;
}

// This process, with one part of its name exchanged: host, namespace, pid, start.
std::string other_process(int part, const std::string& text) {
  std::vector<std::string> parts;
  std::string rest = this_process();
  for (std::size_t at = 0; (at = rest.find('/')) != std::string::npos; rest.erase(0, at + 1))
    parts.push_back(rest.substr(0, at));
  parts.push_back(rest);
  REQUIRE(parts.size() == 4);
  parts.at(static_cast<std::size_t>(part)) = text;
  return parts[0] + "/" + parts[1] + "/" + parts[2] + "/" + parts[3];
}

}  // namespace

STORE_TEST("stale leases and waiters expire while the store is watched") {
  const TestType place;
  const auto store = place.open();
  add(*store, gpu_row("a", State::idle, 2));
  const auto silent = store->claim(user("u1"), k_moment);
  REQUIRE(silent);
  REQUIRE(store->enqueue(user("w"), 10, k_moment));
  const Lease held = claimed(*store, user("u2"));
  watched(*store, k_moment, k_hour);
  CHECK(expire_stale(*store, k_lease) == std::vector{*silent});
  CHECK(store->leases() == std::vector{held});
}

STORE_TEST("after a time without a store every gateway can renew before anything expires") {
  const TestType place;
  const auto store = place.open();
  add(*store, gpu_row("a", State::idle, 2));
  REQUIRE(store->claim(user("u1"), k_moment));
  REQUIRE(store->claim(user_of("gateway-2", "u2"), k_moment));
  watched(*store, std::chrono::minutes(1), k_hour);
  CHECK(expire_stale(*store, k_lease).empty());
  CHECK(expire_stale(*store, k_lease).empty());
  CHECK(store->renew("gateway-1", k_minute).leases.size() == 1);
  watched(*store, k_moment, k_lease / 2);  // the grace time is over
  const auto ended = expire_stale(*store, k_lease);
  REQUIRE(ended.size() == 1);
  CHECK(ended[0].gateway == "gateway-2");
}

STORE_TEST("a store's clock that went back is a gap, too") {
  const TestType place;
  const auto store = place.open();
  add(*store, gpu_row("a"));
  REQUIRE(store->claim(user("u"), k_moment));
  watched(*store, -k_hour, k_hour);
  CHECK(expire_stale(*store, k_lease).empty());
  watched(*store, k_moment, k_lease);
  CHECK(expire_stale(*store, k_lease).size() == 1);
}

STORE_TEST("leases of a dead process of this host expire at once, and no others do") {
  const TestType place;
  const auto store = place.open();
  add(*store, gpu_row("a", State::idle, 4));
  const std::string dead = dead_process();
  const auto of_dead = store->claim(user_of(dead, "u1"), k_minute);
  REQUIRE(of_dead);
  const Lease ours = claimed(*store, user_of(this_process(), "u2"));
  const Lease elsewhere = claimed(*store, user_of(other_process(0, "another-host"), "u3"));
  const Lease container = claimed(*store, user_of(other_process(1, "1"), "u4"));
  REQUIRE(store->enqueue(user_of(dead, "w1"), 10, k_minute));
  CHECK(expire_stale(*store, k_lease) == std::vector{*of_dead});
  CHECK(store->leases() == std::vector{ours, elsewhere, container});
  CHECK(store->view().waiters.empty());
}

STORE_TEST("a timer expires nothing while another process watches all the time") {
  const TestType place;
  const auto store = place.open();
  add(*store, gpu_row("a"));
  REQUIRE(store->claim(user("u"), k_moment));
  watched(*store, std::chrono::minutes(1), k_hour);
  CHECK(expire_stale_if_unwatched(*store, k_lease, {}).empty());
  watched(*store, k_hour, 2 * k_hour);
  CHECK(expire_stale_if_unwatched(*store, k_short_lease, {}).size() == 1);
}

STORE_TEST("the first process after a long time without a store lets every gateway renew") {
  const TestType place;
  const auto store = place.open();
  add(*store, gpu_row("a", State::idle, 2));
  REQUIRE(store->claim(user("u1"), k_moment));
  REQUIRE(store->claim(user_of("gateway-2", "u2"), k_moment));
  watched(*store, k_hour, 2 * k_hour);
  const auto before = store->setting(setting_name::k_expiry_watch);
  auto ended = std::async(std::launch::async, [&] {
    const auto own = place.open();
    return expire_stale_if_unwatched(*own, k_short_lease, {});
  });
  const auto over = [&] {
    return ended.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  };
  while (store->setting(setting_name::k_expiry_watch) == before && !over())
    std::this_thread::yield();
  CHECK(store->renew("gateway-1", k_minute).leases.size() == 1);
  const std::vector<Lease> gone = ended.get();
  REQUIRE(gone.size() == 1);
  CHECK(gone[0].gateway == "gateway-2");
}

STORE_TEST("a stopped timer expires nothing, and without stale leases it does not wait") {
  const TestType place;
  const auto store = place.open();
  add(*store, gpu_row("a", State::idle, 2));
  const Lease held = claimed(*store, user("u"));
  watched(*store, k_hour, 2 * k_hour);
  const auto before = store->setting(setting_name::k_expiry_watch);
  CHECK(expire_stale_if_unwatched(*store, k_lease, {}).empty());
  CHECK(store->setting(setting_name::k_expiry_watch) == before);
  const auto silent = store->claim(user("v"), k_moment);
  REQUIRE(silent);
  std::stop_source stop;
  stop.request_stop();
  CHECK(expire_stale_if_unwatched(*store, k_lease, stop.get_token()).empty());
  CHECK(store->leases() == std::vector{held, *silent});
}
