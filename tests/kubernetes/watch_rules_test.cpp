// Events of a watch: how they are read, and which of them matter. Owners of pods.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "kubernetes/api/manifest.h"
#include "kubernetes/api/messages.h"
#include "kubernetes/api/owner.h"
#include "kubernetes/watch/pod_changes.h"

namespace navtalk::kubernetes {
namespace {

Pod watched(const std::string& phase, const std::string& ip = "") {
  return {.name = "n", .uid = "u", .version = "7", .phase = phase, .ip = ip};
}

bool tells(PodChanges& changes, const Pod& pod) {
  return changes.happened({.kind = PodEvent::Kind::is, .pod = pod});
}

TEST_CASE("a line of a watch is an event, a bookmark or the end of the stream") {
  const auto added = parse_pod_event(
      R"({"type":"ADDED","object":{"metadata":{"name":"n","uid":"u","resourceVersion":"5"}}})");
  REQUIRE(added);
  CHECK(added->kind == PodEvent::Kind::is);
  CHECK(added->pod.version == "5");
  const auto deleted =
      parse_pod_event(R"({"type":"DELETED","object":{"metadata":{"name":"n","uid":"u"}}})");
  REQUIRE(deleted);
  CHECK(deleted->kind == PodEvent::Kind::gone);
  const auto bookmark = parse_pod_event(
      R"({"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"9"}}})");
  REQUIRE(bookmark);
  CHECK(bookmark->kind == PodEvent::Kind::bookmark);
  CHECK(bookmark->pod.version == "9");
  const auto expired = parse_pod_event(
      R"({"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old"}})");
  REQUIRE(expired);
  CHECK(expired->fault.kind == ApiFault::Kind::expired);
  const auto broken = parse_pod_event(R"({"type":"ERROR","object":{"kind":"Status","code":7}})");
  REQUIRE(broken);
  CHECK(broken->fault.kind == ApiFault::Kind::unknown);
  for (const char* line :
       {"<html>", R"({"type":"OTHER","object":{"metadata":{"name":"n","uid":"u"}}})",
        R"({"type":"ADDED","object":{"metadata":{"name":"n"}}})",
        R"({"type":"BOOKMARK","object":{"metadata":{}}})"}) {
    CAPTURE(line);
    CHECK_FALSE(parse_pod_event(line));
  }
}

TEST_CASE("what ends, leaves or runs matters, and marks and waiting do not") {
  PodChanges changes;
  CHECK_FALSE(tells(changes, watched("Pending")));
  CHECK(tells(changes, watched("Running", "10.0.0.1")));
  Pod marked = watched("Running", "10.0.0.1");
  marked.evictable = false;
  marked.version = "8";
  CHECK_FALSE(tells(changes, marked));
  Pod lost = watched("Unknown");
  lost.reason = "NodeLost";
  CHECK(tells(changes, lost));
  CHECK(tells(changes, watched("Running", "10.0.0.1")));
  Pod going = watched("Running", "10.0.0.1");
  going.terminating = true;
  CHECK(tells(changes, going));
  CHECK_FALSE(tells(changes, going));
  CHECK(tells(changes, watched("Failed")));
  CHECK(changes.happened({.kind = PodEvent::Kind::gone, .pod = watched("Failed")}));
  CHECK_FALSE(changes.happened({.kind = PodEvent::Kind::bookmark, .pod = {.version = "9"}}));
}

TEST_CASE("a list after a gap tells what changed in it, and the first one nothing") {
  PodChanges changes;
  CHECK_FALSE(changes.listed({watched("Running", "10.0.0.1")}));
  CHECK_FALSE(changes.listed({watched("Running", "10.0.0.1")}));
  CHECK(changes.listed({watched("Failed")}));
  CHECK(changes.listed({}));
  CHECK_FALSE(changes.listed({}));
}

TEST_CASE("an owner is read as KIND/NAME, found at its path, and stands in the manifest") {
  const Owner owner = parse_owner("Deployment/navtalk");
  CHECK(path_of(owner, "gpus") == "/apis/apps/v1/namespaces/gpus/deployments/navtalk");
  CHECK(path_of(parse_owner("ConfigMap/a"), "b") == "/api/v1/namespaces/b/configmaps/a");
  for (const char* text : {"", "Deployment", "Deployment/", "Deployment/a/b", "/a", "Node/a"}) {
    CAPTURE(text);
    CHECK_THROWS_WITH(parse_owner(text), Catch::Contains("StatefulSet"));
  }
  const auto found = parse_owner_object(owner, R"({"kind":"Deployment","metadata":{"uid":"u-1"}})");
  REQUIRE(found);
  CHECK_FALSE(parse_owner_object(owner, R"({"kind":"Deployment","metadata":{}})"));
  CHECK_FALSE(parse_owner_object(owner, R"({"kind":"Pod","metadata":{"uid":"u-1"}})"));
  const auto body = nlohmann::json::parse(manifest({.image = "i"}, {.name = "n", .owner = found}));
  const nlohmann::json wanted = {
      {"apiVersion", "apps/v1"}, {"kind", "Deployment"}, {"name", "navtalk"}, {"uid", "u-1"}};
  CHECK(body["metadata"]["ownerReferences"] == nlohmann::json::array({wanted}));
  CHECK_FALSE(nlohmann::json::parse(manifest({.image = "i"}, {.name = "n"}))["metadata"].contains(
      "ownerReferences"));
}

}  // namespace
}  // namespace navtalk::kubernetes
