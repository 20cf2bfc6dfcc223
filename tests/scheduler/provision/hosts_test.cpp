// One machine or container at a time has a host's name.
#include "scheduler/provision/hosts.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <optional>
#include <stop_token>
#include <thread>

#include "core/base/error.h"
#include "core/base/sleep.h"
#include "tests/scheduler/small_pool.h"

using namespace navtalk;
using namespace navtalk::tests;

TEST_CASE("a host's name is taken while a gateway of another machine or container has it") {
  SmallPool pool;
  PoolStore& store = *pool.store;
  const Host other = {.name = "here", .devices = {"cpu"}, .owner = elsewhere()};
  const Host ours = {.name = "here", .devices = {"cuda:0"}, .owner = this_process()};
  CHECK(!register_host(store, other));
  const auto found = register_host(store, ours);
  REQUIRE(found);
  CHECK(found->owner == other.owner);
  CHECK(live_hosts(store).size() == 1);
  CHECK_THAT(host_name_taken(store, "here", this_process()),
             Catch::Contains("docker run --hostname"));
  CHECK(host_name_taken(store, "there", this_process()).empty());
  CHECK(host_name_taken(store, "here", elsewhere()).empty());
  CHECK(!register_host(store, {.name = "there", .owner = this_process()}));
  unregister_host(store, other);
  CHECK(!register_host(store, ours));
  CHECK(register_host(store, other));  // now it is the other one that has to wait
}

TEST_CASE("a host's name is free once the gateway elsewhere has been silent for half a minute") {
  SmallPool pool;
  PoolStore& store = *pool.store;
  const Host other = {.name = "here", .devices = {"cpu"}, .owner = elsewhere()};
  const Host ours = {.name = "here", .devices = {"cuda:0"}, .owner = this_process()};
  // Registered so long ago; or by a clock that was set back by an hour since.
  const Duration silent_for = GENERATE(Duration(k_host_silence), Duration(-std::chrono::hours(1)));
  register_host(store, other, k_host_record - silent_for);
  CHECK(host_name_taken(store, "here", this_process()).empty());
  CHECK(claim_host_name(store, ours, {}));
  const auto hosts = live_hosts(store);
  REQUIRE(hosts.size() == 1);
  CHECK(hosts[0].owner == ours.owner);
}

TEST_CASE("a gateway does not start beside one elsewhere that renews its record") {
  SmallPool pool;
  PoolStore& store = *pool.store;
  const Host other = {.name = "here", .devices = {"cpu"}, .owner = elsewhere()};
  const Host ours = {.name = "here", .owner = this_process()};
  register_host(store, other);
  const std::jthread renewals([&](const std::stop_token& stop) {
    while (sleep_for(std::chrono::milliseconds(20), stop)) register_host(store, other);
  });
  // Where this program stood still for so long that the other one counts as ended: once more.
  std::optional<Error> refusal;
  for (int tries = 0; !refusal && tries < 5; ++tries) {
    unregister_host(store, ours);
    try {
      claim_host_name(store, ours, {});
    } catch (const Error& error) {
      refusal = error;
    }
  }
  REQUIRE(refusal);
  CHECK(refusal->code() == Code::invalid);
  CHECK_THAT(refusal->message(),
             Catch::Contains("host name 'here'") && Catch::Contains(elsewhere()));
  CHECK(live_hosts(store).size() == 1);
}

TEST_CASE("a stop ends the wait for a host's name") {
  SmallPool pool;
  register_host(*pool.store, {.name = "here", .devices = {"cpu"}, .owner = elsewhere()});
  std::stop_source stop;
  stop.request_stop();
  CHECK(!claim_host_name(*pool.store, {.name = "here", .owner = this_process()}, stop.get_token()));
}

TEST_CASE("gateways without devices may share a host's name") {
  SmallPool pool;
  PoolStore& store = *pool.store;
  CHECK(claim_host_name(store, {.name = "here", .owner = elsewhere()}, {}));
  CHECK(claim_host_name(store, {.name = "here", .owner = this_process()}, {}));
  CHECK(live_hosts(store).size() == 2);
  CHECK(host_name_taken(store, "here", this_process()).empty());
}
