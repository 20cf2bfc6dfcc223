// Workers that outlive their gateway, and those that end before it: the local provider with real child processes.
#include <catch2/catch.hpp>
#include <csignal>
#include <semaphore>
#include <thread>

#include "scheduler/health/worker_client.h"
#include "scheduler/provision/local/crash_history.h"
#include "tests/scheduler/provision/local_workers.h"
#include "tests/scheduler/small_pool.h"

using namespace navtalk;
using namespace std::chrono_literals;
using namespace local_workers;

TEST_CASE("a worker outlives its gateway, and the next one finds, uses and destroys it") {
  const Gpu gpu = [] {
    LocalProvider first(options());
    return created(first, new_row());
  }();
  LocalProvider second(options());
  const auto instance = listed(second, gpu.name);
  REQUIRE(instance);
  CHECK(instance->provider_id == gpu.provider_id);
  CHECK(instance->url == gpu.url);
  CHECK(done(second.pause(gpu, {})));
  // A create whose outcome was never stored is found by its name.
  Gpu unrecorded = gpu;
  unrecorded.provider_id.clear();
  CHECK(done(second.destroy(unrecorded, {})));
  CHECK(ends(gpu));
}

TEST_CASE("a killed worker is reported at once and listed as failed, with how it ended") {
  std::binary_semaphore told(0);
  std::string crash;
  LocalProviderOptions watching = options();
  watching.on_crash = [&](const std::string& name, const std::string& how) {
    crash = name + " " + how;
    told.release();
  };
  LocalProvider provider(watching);
  const Gpu gpu = created(provider, new_row());
  ::kill(parse_process_id(gpu.provider_id)->pid, SIGKILL);
  REQUIRE(told.try_acquire_for(60s));
  CHECK(crash == gpu.name + " signal 9");
  const auto instance = listed(provider, gpu.name);
  REQUIRE(instance);
  CHECK(instance->status == Instance::Status::failed);
  const Lookup lookup = provider.find(gpu, {});
  REQUIRE(std::holds_alternative<Instance>(lookup));
  CHECK(std::get<Instance>(lookup).status == Instance::Status::failed);
  CHECK_THAT(instance->detail, Catch::Contains("signal 9"));
  CHECK(done(provider.destroy(gpu, {})));
  CHECK_FALSE(listed(provider, gpu.name));
}

TEST_CASE(
    "a killed worker of a gateway that runs no more is reported at once, and its device is free "
    "again") {
  LocalProviderOptions of_a_dead_one = options();
  of_a_dead_one.owner = tests::dead_process();
  LocalProvider first(of_a_dead_one);
  const Gpu gpu = created(first, new_row()), other = created(first, new_row());
  std::counting_semaphore told(0);
  std::string crash;
  LocalProviderOptions watching = options();
  watching.on_crash = [&](const std::string& name, const std::string& how) {
    if (name != gpu.name && name != other.name) return;  // those of tests beside this one
    crash = name + ": " + how;
    told.release();
  };
  LocalProvider second(watching);
  REQUIRE(listed(second, gpu.name));
  CHECK(second.running() == 0);
  ::kill(parse_process_id(gpu.provider_id)->pid, SIGKILL);
  REQUIRE(told.try_acquire_for(60s));
  CHECK(crash == gpu.name + ": an unknown status");
  const auto killed = steady_clock::now();
  while (!second.replaceable(gpu, false) && steady_clock::now() < killed + 60s)
    std::this_thread::sleep_for(5ms);
  CHECK(second.replaceable(gpu, false));
  CHECK_FALSE(listed(second, gpu.name));
  // One that the second ends itself did not crash.
  CHECK(done(second.destroy(other, {})));
  CHECK_FALSE(told.try_acquire_for(100ms));
  CHECK(done(second.destroy(gpu, {})));
}

TEST_CASE("the device of a worker that ended is free once its backoff is over, and not before") {
  LocalProvider provider(options());
  const Gpu gpu = created(provider, new_row());
  CHECK_FALSE(provider.replaceable(gpu, true));
  const auto killed = steady_clock::now();
  ::kill(parse_process_id(gpu.provider_id)->pid, SIGKILL);
  while (!provider.replaceable(gpu, false) && steady_clock::now() < killed + 60s)
    std::this_thread::sleep_for(5ms);
  CHECK(provider.replaceable(gpu, false));
  CHECK(steady_clock::now() - killed >= local::k_first_backoff);
  const Gpu next = created(provider, new_row());
  CHECK(done(provider.destroy(gpu, {})));
  CHECK(done(provider.destroy(next, {})));
}

TEST_CASE(
    "only a gateway that is alone on its host frees the device of a worker that is not its child") {
  LocalProvider first(options());
  const Gpu gpu = created(first, new_row());
  LocalProvider second(options());
  CHECK_FALSE(second.replaceable(gpu, true));
  ::kill(parse_process_id(gpu.provider_id)->pid, SIGKILL);
  REQUIRE(ends(gpu));
  CHECK(second.replaceable(gpu, true));
  CHECK_FALSE(second.replaceable(gpu, false));
  Gpu unknown = gpu;
  unknown.provider_id.clear();
  CHECK_FALSE(second.replaceable(unknown, true));
}

TEST_CASE("while another machine has the host's name, no process is taken to be gone, or started") {
  std::string why = "another machine is called 'here', too";
  LocalProviderOptions shared = options();
  shared.blind = [&] { return why; };
  LocalProvider first(options()), provider(shared);
  const Gpu gpu = created(first, new_row());
  Gpu theirs = gpu;
  theirs.provider_id = "1:1";  // of a process that is not on this machine
  const auto unknown = [&](const Outcome& outcome) {
    const auto* answer = std::get_if<UnknownOutcome>(&outcome);
    return answer != nullptr && answer->message == why;
  };
  CHECK(unknown(provider.destroy(theirs, {})));
  CHECK(unknown(provider.pause(theirs, {})));
  CHECK(unknown(provider.wake(theirs, {})));
  CHECK(std::holds_alternative<NoAnswer>(provider.find(theirs, {})));
  CHECK(std::holds_alternative<NoCapacity>(provider.create(new_row(), {})));
  CHECK_FALSE(provider.list({}).complete);
  CHECK_FALSE(provider.replaceable(theirs, true));
  why.clear();
  CHECK(std::holds_alternative<NotFound>(provider.find(theirs, {})));
  CHECK(done(provider.destroy(theirs, {})));
  CHECK(done(first.destroy(gpu, {})));
}

TEST_CASE("a worker of a dead gateway is outdated when it would be started differently now") {
  LocalProviderOptions before = options();
  before.environment = {"NAVTALK_MODELS_PATH=/models/a"};
  before.owner = tests::dead_process();
  const Gpu gpu = [&] {
    LocalProvider first(before);
    return created(first, new_row());
  }();
  const auto outdated = [&](const LocalProviderOptions& now) {
    LocalProvider provider(now);
    return listed(provider, gpu.name)->outdated;
  };
  before.owner = this_process();
  CHECK(outdated(before).empty());
  LocalProviderOptions now = before;
  now.slots = 3;
  CHECK(outdated(now) == "it was started with --slots 1, now with --slots 3");
  now = before;
  now.arguments = {"--log-level", "debug"};
  CHECK(outdated(now).empty());
  now = before;
  now.environment = {"NAVTALK_MODELS_PATH=/models/b"};
  CHECK(outdated(now) == "it was started without NAVTALK_MODELS_PATH=/models/b");
  now = before;
  now.devices = {"cuda:0"};
  CHECK(outdated(now) == "its device 'cpu' does not belong to this gateway");
  now = before;
  now.program = "/bin/sh";
  CHECK(outdated(now) == "its program was replaced");
  LocalProvider last(before);
  CHECK(done(last.destroy(gpu, {})));
}

TEST_CASE("workers of other living gateways are never outdated") {
  LocalProvider first(options());
  const Gpu gpu = created(first, new_row());
  LocalProviderOptions other = options();
  other.slots = 2;
  LocalProvider second(other);
  CHECK(listed(second, gpu.name)->outdated.empty());
  CHECK(done(first.destroy(gpu, {})));
}
