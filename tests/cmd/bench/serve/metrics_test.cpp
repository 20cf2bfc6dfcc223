#include "cmd/bench/serve/metrics.h"

#include <catch2/catch.hpp>

namespace navtalk::cmd {

TEST_CASE("a page of metrics is read by name and labels") {
  const Metrics metrics = parse_metrics(
      "# HELP a_total What it counts\n# TYPE a_total counter\na_total 12\n"
      "b{path=\"/a b\"} 0.5\nc_sum 1.5e-3\nbroken\n\nlast 7");
  CHECK(metrics.size() == 4);
  CHECK(value_of(metrics, "a_total") == 12);
  CHECK(value_of(metrics, "b{path=\"/a b\"}") == 0.5);
  CHECK(value_of(metrics, "c_sum") == 0.0015);
  CHECK(value_of(metrics, "last") == 7);
  CHECK(value_of(metrics, "missing") == 0);
}

TEST_CASE("growth is that of metrics which both scrapes have") {
  const Metrics growth = grown({{"a", 1}, {"gone", 2}}, {{"a", 4}, {"new", 5}});
  CHECK(growth == Metrics{{"a", 3}});
  Metrics sum{{"a", 1}};
  add(sum, {{"a", 2}, {"b", 3}});
  CHECK(sum == Metrics{{"a", 3}, {"b", 3}});
}

TEST_CASE("stages are the worker's times, divided by the pictures that went through them") {
  const Metrics growth = {{"navtalk_worker_stage_seconds_total{stage=\"inference\"}", 3},
                          {"navtalk_worker_stage_seconds_total{stage=\"encode\"}", 2},
                          {"navtalk_worker_face_seconds_total", 4},
                          {"navtalk_worker_generated_pictures_total", 100},
                          {"navtalk_worker_pictures_total", 200}};
  const std::vector<Stage> stages = stages_of(growth);
  REQUIRE(stages.size() == 2);
  CHECK(stages[0].name == "encode");
  CHECK(stages[0].mean_ms == 10);
  CHECK(stages[0].count == 200);
  CHECK(stages[1].name == "inference");
  CHECK(stages[1].mean_ms == 30);
  CHECK(stages[1].count == 100);
}

TEST_CASE("a worker without stages by name has them as counters of their own") {
  const std::vector<Stage> stages = stages_of({{"navtalk_worker_face_seconds_total", 3},
                                               {"navtalk_worker_encode_seconds_total", 2},
                                               {"navtalk_worker_generated_pictures_total", 0},
                                               {"navtalk_worker_pictures_total", 200},
                                               {"navtalk_gateway_wait_seconds_total", 9}});
  REQUIRE(stages.size() == 1);  // no picture went through the nets
  CHECK(stages[0].name == "encode");
  CHECK(stages[0].mean_ms == 10);
}

}  // namespace navtalk::cmd
