// One pod asked for by its id: what counts as its absence, and what proves nothing.
#include <catch2/catch.hpp>

#include "tests/runpod/scene.h"

using namespace navtalk;
using namespace std::chrono_literals;
using tests::row;
using tests::Scene;

namespace {

using tests::k_never;

bool found(const Lookup& lookup) { return std::holds_alternative<Instance>(lookup); }
bool unknown(const Lookup& lookup) { return std::holds_alternative<NotFound>(lookup); }

}  // namespace

TEST_CASE("a pod is found by its id as the list would show it, although the list lacks it") {
  Scene scene;
  const std::string id = scene.made("a");
  const Instance listed = scene.provider.list(k_never).instances.at(0);
  scene.server.change(id, {.unlisted = true});
  CHECK(scene.provider.list(k_never).complete);
  CHECK(scene.provider.list(k_never).instances.empty());
  const Lookup lookup = scene.provider.find(row("a", id), k_never);
  REQUIRE(found(lookup));
  const auto& instance = std::get<Instance>(lookup);
  CHECK(instance.provider_id == id);
  CHECK(instance.name == listed.name);
  CHECK(instance.status == listed.status);
  CHECK(instance.url == listed.url);
  CHECK(instance.usd_per_hour == listed.usd_per_hour);
}

TEST_CASE("a pod that was deleted, that never was or that is terminated is not found") {
  Scene scene;
  const std::string id = scene.made("a");
  REQUIRE(found(scene.provider.find(row("a", id), k_never)));
  SECTION("terminated") {
    scene.server.change(id, {.status = "TERMINATED"});
    CHECK(unknown(scene.provider.find(row("a", id), k_never)));
  }
  SECTION("deleted") {
    scene.provider.destroy(row("a", id), k_never);
    CHECK(unknown(scene.provider.find(row("a", id), k_never)));
  }
  SECTION("never was") { CHECK(unknown(scene.provider.find(row("a", "never"), k_never))); }
}

TEST_CASE("any answer but a 404 of the API says nothing about the pod, and is asked for once") {
  Scene scene;
  const std::string id = scene.made("a");
  const std::string name =
      GENERATE("server-error", "bad-key", "no-money", "forbidden", "edge-html", "edge-text",
               "api-gone", "rate-limited", "unprocessable", "garbage", "silent", "reset");
  CAPTURE(name);
  scene.server.fault("get", name, -1);
  const Lookup lookup = scene.provider.find(row("a", id), k_never);
  REQUIRE(std::holds_alternative<NoAnswer>(lookup));
  CHECK_THAT(std::get<NoAnswer>(lookup).message, Catch::Contains(id));
  // libcurl repeats a GET on a kept connection that breaks.
  if (name != "reset") CHECK(scene.server.count("get") == 1);
}

TEST_CASE("a page that is not the API's is no 404 of a pod") {
  Scene scene;
  const std::string id = scene.made("a");
  scene.server.fault(
      {.call = "get", .status = 404, .body = "<html>404</html>", .type = "text/html"});
  CHECK(std::holds_alternative<NoAnswer>(scene.provider.find(row("a", id), k_never)));
}

TEST_CASE("the answer about another pod says nothing about the one that was asked for") {
  Scene scene;
  const std::string id = scene.made("a");
  scene.server.fault({.call = "get", .status = 200, .body = R"({"id": "another"})"});
  CHECK(std::holds_alternative<NoAnswer>(scene.provider.find(row("a", id), k_never)));
}
