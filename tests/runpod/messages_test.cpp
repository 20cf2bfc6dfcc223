#include "runpod/api/messages.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace navtalk::runpod;
using nlohmann::json;

TEST_CASE("a pod is read with what the pool needs of it") {
  const auto pod = parse_pod(
      R"({"id":"7h9k","name":"navtalk-a-1","status":"RUNNING","gpu":{"id":"RTX 4090","count":1},
          "cloud":"SECURE","dataCenterId":"US-KS-2","cost":0.44,"locked":false,
          "runtime":{"uptime":3600,"ports":[]},"env":{"TOKEN":"secret"}})");
  REQUIRE(pod);
  CHECK(pod->id == "7h9k");
  CHECK(pod->name == "navtalk-a-1");
  CHECK(pod->status == PodStatus::running);
  CHECK(pod->gpu_type == "RTX 4090");
  CHECK(pod->gpu_count == 1);
  CHECK(pod->cloud == "SECURE");
  CHECK(pod->data_center == "US-KS-2");
  CHECK(pod->usd_per_hour == 0.44);
  CHECK(pod->has_runtime);
}

TEST_CASE("every status word of Runpod has its status, and others are unknown") {
  const auto [word, status] = GENERATE(table<std::string, PodStatus>({
      {"PROVISIONING", PodStatus::provisioning},
      {"STARTING", PodStatus::starting},
      {"RUNNING", PodStatus::running},
      {"EXITED", PodStatus::exited},
      {"ERROR", PodStatus::error},
      {"TERMINATED", PodStatus::terminated},
      {"HIBERNATING", PodStatus::unknown},
      {"", PodStatus::unknown},
      {"running", PodStatus::unknown},
  }));
  const auto pod = parse_pod(json({{"id", "x"}, {"status", word}}).dump());
  REQUIRE(pod);
  CHECK(pod->status == status);
  CHECK(pod->status_word == word);
}

TEST_CASE("a pod's odd forms do not hide it") {
  const auto pod = parse_pod(
      R"({"id":"x","status":"PROVISIONING","cost":"0.44","runtime":{},"gpu":null,"cpu":{"id":"c"},
          "dataCenterId":null,"locked":"yes","actions":["start"],"aFieldOfTomorrow":[{}]})");
  REQUIRE(pod);
  CHECK(pod->usd_per_hour == 0.44);
  CHECK_FALSE(pod->has_runtime);
  CHECK(pod->gpu_count == 0);
  CHECK(pod->data_center.empty());
  CHECK_FALSE(pod->locked);
  CHECK_FALSE(parse_pod(R"({"id":"x","runtime":null})")->has_runtime);
  CHECK(parse_pod(R"({"id":"x","desiredStatus":"EXITED"})")->status == PodStatus::exited);
}

TEST_CASE("an answer that names no pod is not a pod") {
  for (const char* body : {"", "<html>", "[]", "{}", R"({"id":""})", R"({"id":5})", "null"}) {
    CHECK_FALSE(parse_pod(body));
  }
}

TEST_CASE("a list of pods comes with and without pages") {
  const auto one = parse_pods(R"({"pods":[{"id":"a"},{"id":"b"}]})");
  REQUIRE(one);
  CHECK(one->pods.size() == 2);
  CHECK(one->next_cursor.empty());
  CHECK(one->whole);
  CHECK(parse_pods(R"({"pods":[],"pagination":{"nextCursor":"c1"}})")->next_cursor == "c1");
  CHECK(parse_pods(R"({"pods":[],"pagination":{"nextCursor":null}})")->next_cursor.empty());
  CHECK(parse_pods(R"({"pods":[],"pagination":null})")->whole);
  CHECK(parse_pods(R"([{"id":"a"}])")->pods.size() == 1);
}

TEST_CASE("a list with an entry that cannot be read is not whole") {
  CHECK_FALSE(parse_pods(R"({"pods":[{"id":"a"},{"name":"nameless"}]})")->whole);
  CHECK_FALSE(parse_pods(R"({"pods":null})")->whole);
  for (const char* body : {"", "{}", "3", R"({"error":"x"})"}) CHECK_FALSE(parse_pods(body));
}

TEST_CASE("an order for a pod always counts its GPUs and names only what was asked") {
  NewPod pod{.name = "navtalk-a-1", .image = "image@sha256:0", .gpu_type = "RTX 4090"};
  pod.cloud = "SECURE";
  pod.disk_gb = 40;
  pod.ports = {"2160/http"};
  pod.env = {{"A", "b"}};
  const json least = json::parse(to_json(pod));
  CHECK(least == json({{"name", "navtalk-a-1"},
                       {"image", "image@sha256:0"},
                       {"gpu", {{"id", "RTX 4090"}, {"count", 1}}},
                       {"cloud", "SECURE"},
                       {"disk", 40},
                       {"ports", {"2160/http"}},
                       {"env", {{"A", "b"}}}}));
  pod.min_cuda = "12.8";
  pod.data_center = "EU-RO-1";
  pod.args = "serve --worker";
  pod.registry = "reg1";
  pod.volume_id = "vol1";
  pod.volume_path = "/models";
  const json most = json::parse(to_json(pod));
  CHECK(most["gpu"]["minCudaVersion"] == "12.8");
  CHECK(most["dataCenterIds"] == json::array({"EU-RO-1"}));
  CHECK(most["args"] == "serve --worker");
  CHECK(most["registry"] == "reg1");
  CHECK(most["mounts"] == json({{"network", {{{"volumeId", "vol1"}, {"path", "/models"}}}}}));
}

TEST_CASE("the catalog is read with prices and stock") {
  const auto offers = parse_gpu_offers(
      R"({"gpus":[{"id":"RTX 4090","price":{"secure":0.44,"community":"0.31"},"availability":"HIGH",
          "dataCenters":[{"id":"US-KS-2","availability":"LOW"},{"id":"EU-RO-1","availability":"?"}]},
          {"name":"no id"},{"id":"H100","price":null}]})");
  REQUIRE(offers);
  REQUIRE(offers->size() == 2);
  CHECK((*offers)[0].secure_usd_per_hour == 0.44);
  CHECK((*offers)[0].community_usd_per_hour == 0.31);
  CHECK((*offers)[0].availability == Availability::high);
  CHECK((*offers)[0].data_centers.at("US-KS-2") == Availability::low);
  CHECK((*offers)[0].data_centers.at("EU-RO-1") == Availability::unknown);
  CHECK((*offers)[1].secure_usd_per_hour == 0);
  CHECK_FALSE(parse_gpu_offers("{}"));
}

TEST_CASE("an error answer is told from what something else wrote") {
  const Problem problem =
      parse_problem(R"({"title":"T","status":422,"detail":"bad","errors":["env.A: no","x"]})");
  CHECK(problem.is_problem_json);
  CHECK(problem.detail == "bad; env.A: no; x");
  CHECK(parse_problem(R"({"message":"v1 words"})").detail == "v1 words");
  CHECK(parse_problem(R"({"error":"v1 error","status":500})").detail == "v1 error");
  CHECK(parse_problem(R"({"title":"Forbidden"})").detail == "Forbidden");
  for (const char* body : {"", "<html>", "error code: 1010", "{}", "[]"}) {
    CHECK_FALSE(parse_problem(body).is_problem_json);
  }
  CHECK(parse_problem(json({{"detail", std::string(9000, 'x')}}).dump()).detail.size() == 600);
  CHECK(parse_problem(R"({"detail":"a\nb\u001b[31m"})").detail == "a\\nb\\x1b[31m");
}

TEST_CASE("when a pod was made is read where it stands in a known form") {
  const auto made = [](const std::string& text) {
    return parse_pod(json({{"id", "x"}, {"createdAt", text}}).dump())->created_at;
  };
  const auto june = std::chrono::sys_days(std::chrono::year(2026) / 6 / 1) + std::chrono::hours(12);
  CHECK(made("2026-06-01T12:00:00Z") == june);
  CHECK(made("2026-06-01T12:00:00.140Z") == june);
  CHECK_FALSE(made("2026-06-01T12:00:00+02:00"));
  CHECK_FALSE(made("yesterday"));
  CHECK_FALSE(parse_pod(R"({"id":"x","createdAt":null})")->created_at);
}
