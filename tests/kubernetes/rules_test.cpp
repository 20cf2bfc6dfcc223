// The provider's pure rules: faults, retries, manifests, what answers say, ids, where the cluster is.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "kubernetes/api/cluster.h"
#include "kubernetes/api/fault.h"
#include "kubernetes/api/manifest.h"
#include "kubernetes/api/messages.h"
#include "kubernetes/eviction_marks.h"
#include "kubernetes/pod_id.h"

namespace navtalk::kubernetes {
namespace {

using Kind = ApiFault::Kind;
using std::chrono::milliseconds;

HttpAnswer status_answer(int status, const std::string& message) {
  const nlohmann::json body = {{"kind", "Status"}, {"message", message}, {"code", status}};
  return {.status = status, .body = body.dump()};
}

std::string pod_text(const nlohmann::json& metadata, const nlohmann::json& spec,
                     const nlohmann::json& status) {
  const nlohmann::json pod = {
      {"kind", "Pod"}, {"metadata", metadata}, {"spec", spec}, {"status", status}};
  return pod.dump();
}

TEST_CASE("a status of the Kubernetes API has one meaning") {
  struct Row {
    int status;
    const char* message;
    Kind kind;
  };
  for (const Row& row :
       {Row{401, "Unauthorized", Kind::forbidden},
        Row{403, "cannot create resource", Kind::forbidden},
        Row{403, "pods is forbidden: exceeded quota: gpus", Kind::quota},
        Row{404, "pods not found", Kind::not_found}, Row{409, "already exists", Kind::conflict},
        Row{410, "the continue parameter is too old", Kind::expired},
        Row{422, "Invalid", Kind::rejected}, Row{429, "slow down", Kind::busy},
        Row{500, "internal", Kind::unknown}, Row{503, "down", Kind::unknown},
        Row{302, "elsewhere", Kind::unknown}}) {
    CAPTURE(row.status, row.message);
    const ApiFault fault = fault_of(status_answer(row.status, row.message));
    CHECK(fault.kind == row.kind);
    CHECK(fault.message.find(row.message) != std::string::npos);
  }
}

TEST_CASE("a 404 that is not the API's own says nothing of a pod") {
  CHECK(fault_of(HttpAnswer{.status = 404, .body = "<html>not found</html>"}).kind ==
        Kind::unknown);
}

TEST_CASE("Retry-After is the least wait, and too long a one is not waited for") {
  HttpAnswer busy = status_answer(429, "slow down");
  busy.headers.emplace("retry-after", "3");
  const ApiFault fault = fault_of(busy);
  CHECK(fault.retry_after == milliseconds(3'000));
  CHECK(retry_delay(fault, 1, 0) == milliseconds(3'000));
  CHECK_FALSE(retry_delay(fault, 4, 0));
  ApiFault later = fault;
  later.retry_after = milliseconds(21'000);
  CHECK_FALSE(retry_delay(later, 1, 0));
  const ApiFault unasked{Kind::unknown, 500};
  CHECK(retry_delay(unasked, 1, 1) == milliseconds(250));
  CHECK(retry_delay(unasked, 3, 1) == milliseconds(1'000));
  CHECK(retry_delay(unasked, 3, 0) == milliseconds(0));
}

TEST_CASE("a toleration is read as kubectl writes it") {
  CHECK(parse_toleration("gpu") == Toleration{"gpu", "", ""});
  CHECK(parse_toleration("gpu=a100") == Toleration{"gpu", "a100", ""});
  CHECK(parse_toleration("nvidia.com/gpu:NoSchedule") ==
        Toleration{"nvidia.com/gpu", "", "NoSchedule"});
  CHECK(parse_toleration("gpu=a100:NoExecute") == Toleration{"gpu", "a100", "NoExecute"});
  CHECK_THROWS_AS(parse_toleration("gpu:Never"), Error);
  CHECK_THROWS_AS(parse_toleration("=a100"), Error);
  CHECK_THROWS_AS(parse_toleration(""), Error);
  CHECK(parse_node_label("zone=b") == std::pair<std::string, std::string>("zone", "b"));
  CHECK_THROWS_AS(parse_node_label("zone"), Error);
}

TEST_CASE("an unset class, secret, selector or toleration is not in the manifest") {
  const auto body = nlohmann::json::parse(
      manifest({.image = "i"}, {.name = "n", .row = "N", .gpu_id = "g", .pool_id = "p"}));
  for (const char* name : {"nodeSelector", "tolerations", "imagePullSecrets", "priorityClassName",
                           "runtimeClassName"}) {
    CHECK_FALSE(body["spec"].contains(name));
  }
  CHECK(body["metadata"]["labels"][k_pool_label] == "p");
  CHECK(body["metadata"]["labels"][k_gpu_label] == "g");
  CHECK(body["metadata"]["annotations"][k_row_annotation] == "N");
  CHECK(body["spec"]["restartPolicy"] == "Never");
  CHECK(object_name("navtalk-Pool-1") == "navtalk-pool-1");
}

TEST_CASE("only pods with sessions are marked as not to be evicted") {
  const auto row = [](const std::string& uid, int sessions) {
    return Gpu{.id = {uid},
               .source = Source::cloud,
               .sessions = sessions,
               .provider_id = text_of_id({"gpus", "pod-" + uid, uid})};
  };
  EvictionMarks marks;
  // As new pods are: free for the autoscaler.
  marks.saw({.name = "pod-a", .uid = "a", .evictable = true});
  marks.saw({.name = "pod-b", .uid = "b", .evictable = true});
  CHECK(marks.due({row("a", 0), row("b", 0)}, "gpus").empty());
  auto due = marks.due({row("a", 0), row("b", 2)}, "gpus");
  REQUIRE(due.size() == 1);
  CHECK(due[0].pod.name == "pod-b");
  CHECK_FALSE(due[0].evictable);
  marks.marked("b", false);
  CHECK(marks.due({row("a", 0), row("b", 1)}, "gpus").empty());
  // Who is about to be evicted comes first.
  due = marks.due({row("b", 0), row("a", 1)}, "gpus");
  REQUIRE(due.size() == 2);
  CHECK(due[0].pod.uid == "a");
  CHECK(due[1].evictable);
  // Somebody took the word away; another namespace, and another provider, are left alone.
  marks.saw({.name = "pod-b", .uid = "b"});
  CHECK(marks.due({row("b", 1)}, "gpus").size() == 1);
  CHECK(marks.due({row("b", 1)}, "others").empty());
  Gpu elsewhere = row("b", 1);
  elsewhere.provider_id = "xyz123";
  CHECK(marks.due({elsewhere}, "gpus").empty());
  const auto patch = nlohmann::json::parse(evictable_patch("u", false));
  CHECK(patch["metadata"]["uid"] == "u");
  CHECK(patch["metadata"]["annotations"][k_evictable_annotation] == "false");
}

TEST_CASE("a pod without a node is unschedulable where the scheduler says so") {
  const nlohmann::json no_node = {
      {"phase", "Pending"},
      {"conditions",
       {{{"type", "PodScheduled"}, {"status", "False"}, {"reason", "Unschedulable"}}}}};
  const nlohmann::json metadata = {{"name", "n"}, {"uid", "u"}};
  CHECK(parse_pod(pod_text(metadata, {}, no_node))->unschedulable);
  CHECK_FALSE(parse_pod(pod_text(metadata, {{"nodeName", "a"}}, no_node))->unschedulable);
  CHECK_FALSE(parse_pod(pod_text(metadata, {}, {{"phase", "Pending"}}))->unschedulable);
}

TEST_CASE("what is not a pod, or lacks its uid, is not read as one") {
  CHECK_FALSE(parse_pod("<html>"));
  CHECK_FALSE(parse_pod(R"({"kind":"Status"})"));
  CHECK_FALSE(parse_pod(pod_text({{"name", "n"}}, {}, {})));
  CHECK_FALSE(parse_pods(R"({"items":[]})"));
  const auto page = parse_pods(R"({"kind":"PodList","metadata":{"continue":"c"},
      "items":[{"metadata":{"name":"n","uid":"u","deletionTimestamp":"2026-01-01T00:00:00Z"},
                "status":{"phase":"Failed","reason":"Evicted"}},{"metadata":null}]})");
  REQUIRE(page);
  CHECK_FALSE(page->whole);
  CHECK(page->next == "c");
  REQUIRE(page->pods.size() == 1);
  CHECK(page->pods[0].terminating);
  CHECK(page->pods[0].ended());
  CHECK(page->pods[0].reason == "Evicted");
}

TEST_CASE("an id names its provider, its namespace and its pod") {
  const auto id = parse_pod_id(text_of_id({"gpus", "navtalk-a-1", "u-1"}));
  REQUIRE(id);
  CHECK(id->name_space == "gpus");
  CHECK(id->name == "navtalk-a-1");
  CHECK(id->uid == "u-1");
  CHECK_FALSE(parse_pod_id("xyz123"));
  CHECK_FALSE(parse_pod_id("kubernetes/gpus"));
}

TEST_CASE("a token does not travel in clear text beyond loopback") {
  CHECK(cluster({.url = "https://10.0.0.1/"}).url == "https://10.0.0.1");
  CHECK(cluster({.url = "http://127.0.0.1:8001"}).name_space == "default");
  CHECK_THROWS_AS(cluster({.url = "http://10.0.0.1"}), Error);
}

}  // namespace
}  // namespace navtalk::kubernetes
