// Pods that exist: stopped, started, destroyed and listed, with the fake's documented misbehaviour.
#include <catch2/catch.hpp>

#include "runpod/runpod_provider.h"
#include "tests/runpod/scene.h"

using namespace navtalk;
using namespace std::chrono_literals;
using tests::is;
using tests::PodLife;
using tests::row;
using tests::Scene;
using Status = Instance::Status;

TEST_CASE("a pod is stopped, started and listed as what it is") {
  Scene scene;
  const std::string id = scene.made("a");
  CHECK(is<Done>(scene.provider.pause(row("a", id), k_never)).instance->status == Status::stopped);
  CHECK(scene.provider.list(k_never).instances.at(0).status == Status::stopped);
  CHECK(is<Done>(scene.provider.wake(row("a", id), k_never)).instance->status == Status::running);
}

TEST_CASE("stopping what is stopped and starting what runs are done already") {
  Scene scene;
  const std::string id = scene.made("a");
  is<Done>(scene.provider.wake(row("a", id), k_never));
  is<Done>(scene.provider.pause(row("a", id), k_never));
  is<Done>(scene.provider.pause(row("a", id), k_never));
}

TEST_CASE("a start that was done but answered wrongly is done in the end") {
  Scene scene;
  const std::string id = scene.made("a");
  is<Done>(scene.provider.pause(row("a", id), k_never));
  scene.server.fault("start", GENERATE("done-but-500", "done-but-reset"));
  is<Done>(scene.provider.wake(row("a", id), k_never));
  CHECK(scene.server.pods().at(0).starts == 2);
}

TEST_CASE("a resume that the host has no GPU for is a failure") {
  Scene scene;
  scene.server.life({.resume_refused = true});
  const std::string id = scene.made("a");
  is<Done>(scene.provider.pause(row("a", id), k_never));
  CHECK_THAT(is<Failure>(scene.provider.wake(row("a", id), k_never)).message,
             Catch::Contains("not enough free GPUs"));
}

TEST_CASE("a resume that is refused under any status is known by its words") {
  const int status = GENERATE(400, 409, 422, 500);
  Scene scene;
  const std::string id = scene.made("a");
  is<Done>(scene.provider.pause(row("a", id), k_never));
  const tests::RunpodFault words = tests::fault_named("resume-refused", "start");
  scene.server.fault({.call = "start", .times = -1, .status = status, .body = words.body});
  is<Failure>(scene.provider.wake(row("a", id), k_never));
}

TEST_CASE("waking or pausing what is gone fails, and what the API does not answer is unknown") {
  Scene scene;
  is<Failure>(scene.provider.wake(row("a", "never"), k_never));
  is<Failure>(scene.provider.pause(row("a", "never"), k_never));
  is<Failure>(scene.provider.wake(row("a"), k_never));
  is<Failure>(scene.provider.pause(row("a"), k_never));
  const std::string id = scene.made("b");
  scene.server.fault("*", "server-error", -1);
  is<UnknownOutcome>(scene.provider.wake(row("b", id), k_never));
  is<UnknownOutcome>(scene.provider.pause(row("b", id), k_never));
  is<UnknownOutcome>(scene.provider.destroy(row("b", id), k_never));
}

TEST_CASE("a pod is destroyed, and destroying it again is done too") {
  Scene scene;
  const std::string id = scene.made("a");
  is<Done>(scene.provider.destroy(row("a", id), k_never));
  CHECK(scene.server.live_pods().empty());
  CHECK(is<Done>(scene.provider.destroy(row("a", id), k_never)).unknown);
}

TEST_CASE(
    "404 and a list without the pod say that it is not known, and do not prove that it is gone") {
  Scene scene;
  scene.server.life({.hidden = 3600s});
  const std::string id = scene.made("a");
  CHECK(is<Done>(scene.provider.destroy(row("a", id), k_never)).unknown);
  CHECK(scene.server.live_pods().size() == 1);
  scene.server.advance(3601s);
  CHECK_FALSE(is<Done>(scene.provider.destroy(row("a", id), k_never)).unknown);
  CHECK(scene.server.live_pods().empty());
}

TEST_CASE("404 with a list that did not come is unknown") {
  Scene scene;
  scene.server.fault("list", "server-error", 5);
  is<UnknownOutcome>(scene.provider.destroy(row("a", "never"), k_never));
  CHECK(is<Done>(scene.provider.destroy(row("a", "never"), k_never)).unknown);
}

TEST_CASE("a row whose create was never answered is destroyed by its name, twins included") {
  Scene scene;
  scene.server.life({.twice = true});
  scene.server.fault("create", "done-but-500");
  is<UnknownOutcome>(scene.create("a"));
  CHECK(scene.server.live_pods().size() == 2);
  scene.server.life({});
  scene.made("ab");  // a name that only begins alike
  is<Done>(scene.provider.destroy(row("a"), k_never));
  REQUIRE(scene.server.live_pods().size() == 1);
  CHECK(scene.server.live_pods().at(0).name() == "navtalk-test-0123abcd-ab");
}

TEST_CASE("the list shows every pod of the account, whatever it is called, and every page") {
  Scene scene;
  for (int i = 0; i < 5; ++i) scene.made(std::to_string(i));
  scene.server.add_pod("somebody-elses");
  scene.server.add_pod("navtalk-testing-1");
  scene.server.add_pod("navtalk-test-99999999-other-store");
  scene.server.page_size(2);
  const Listing listing = scene.provider.list(k_never);
  CHECK(listing.complete);
  CHECK(listing.instances.size() == 8);
}

TEST_CASE("how old a pod is goes by the cloud's clock alone") {
  Scene scene;
  scene.made("a");
  const Listing listing = scene.provider.list(k_never);
  REQUIRE(listing.instances.size() == 1);
  const Instance& young = listing.instances.at(0);
  CHECK(young.age_sure);
  REQUIRE(young.age);
  CHECK(*young.age < tests::k_cloud_ahead);
}

TEST_CASE("a list that breaks off is not complete, and says why") {
  Scene scene;
  for (int i = 0; i < 3; ++i) scene.made(std::to_string(i));
  scene.server.page_size(2);
  auto fault =
      tests::fault_named(GENERATE("server-error", "bad-key", "edge-html", "api-gone"), "list");
  fault.skip = 1;
  fault.times = -1;
  scene.server.fault(fault);
  const Listing listing = scene.provider.list(k_never);
  CHECK_FALSE(listing.complete);
  CHECK_FALSE(listing.message.empty());
}

TEST_CASE("odd forms and unknown words leave a pod readable") {
  Scene scene;
  scene.server.life({.status = "HIBERNATING", .odd_form = true});
  const std::string id = scene.made("a");
  const Instance seen = scene.provider.list(k_never).instances.at(0);
  CHECK(seen.provider_id == id);
  CHECK(seen.status == Status::unknown);
  CHECK(seen.usd_per_hour == 0.5);
  CHECK_THAT(seen.detail, Catch::StartsWith("HIBERNATING"));
}

TEST_CASE("a pod lives through its statuses, may stick in one, and may exit by itself") {
  Scene scene;
  scene.server.life({.starting_after = 10s, .running_after = 20s, .exits_after = 100s});
  scene.made("a");
  const auto status = [&] { return scene.provider.list(k_never).instances.at(0).status; };
  CHECK(status() == Status::starting);
  scene.server.advance(15s);
  CHECK(status() == Status::starting);
  scene.server.advance(10s);
  CHECK(status() == Status::running);
  scene.server.advance(100s);
  CHECK(status() == Status::stopped);

  scene.server.change(scene.server.pods().at(0).id, PodLife{.stuck = true});
  scene.server.advance(3600s);
  CHECK(status() == Status::starting);
}
