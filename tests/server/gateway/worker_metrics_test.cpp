#include "server/gateway/worker_metrics.h"

#include <catch2/catch.hpp>

#include "tests/server/gateway/media_client.h"
#include "tests/server/worker/live_worker.h"

using namespace navtalk;
using namespace navtalk::server;
using namespace navtalk::tests;

namespace {

std::string page_of(const std::vector<std::pair<std::string, std::string>>& workers) {
  MetricsPage page;
  for (const auto& [gpu, text] : workers) add_worker_page(page, gpu, text);
  return page.response().body;
}

}  // namespace

TEST_CASE("what workers tell of live sessions stands on one page, by GPU") {
  const std::string page = page_of({{"g1",
                                     "# HELP navtalk_worker_late_pictures_total x\n"
                                     "navtalk_worker_late_pictures_total 3\n"
                                     "navtalk_worker_stage_seconds_total{stage=\"encode\"} 1.5\n"
                                     "navtalk_worker_sound_ahead_seconds -0.02\n"},
                                    {"g2", "navtalk_worker_late_pictures_total 4\n"}});
  for (const char* line : {"navtalk_worker_late_pictures_total{gpu=\"g1\"} 3\n",
                           "navtalk_worker_late_pictures_total{gpu=\"g2\"} 4\n",
                           "navtalk_worker_stage_seconds_total{gpu=\"g1\",stage=\"encode\"} 1.5\n",
                           "navtalk_worker_sound_ahead_seconds{gpu=\"g1\"} -0.02\n"})
    CHECK_THAT(page, Catch::Contains(line));
}

TEST_CASE("what no worker writes is left out of the gateway's page") {
  std::string many;
  for (int i = 0; i < 100; ++i)
    many += "navtalk_worker_live_sessions{fps=\"" + std::to_string(i) + "\"} 1\n";
  const std::string page = page_of({{"g1", many},
                                    {"g2",
                                     "navtalk_gateway_sessions 7\n"
                                     "navtalk_worker_pictures_total nan\n"
                                     "navtalk_worker_overflows_total -1\n"
                                     "navtalk_worker_pictures_total{gpu=\"g1\"} 9\n"
                                     "navtalk_worker_stage_seconds_total{stage=\"a\\\"b\"} 1\n"
                                     "navtalk_worker_stage_seconds_total{stage=\"} 1\n"
                                     "navtalk_worker_rate_changes_total 1\n"
                                     "navtalk_worker_rate_changes_total 2\n"
                                     "nonsense\n"
                                     "navtalk_worker_late_pictures_total 5"}});
  CHECK_THAT(page, Catch::Contains("navtalk_worker_live_sessions{fps=\"15\",gpu=\"g1\"} 1\n"));
  CHECK_THAT(page, !Catch::Contains("fps=\"16\""));
  CHECK_THAT(page, Catch::Contains("navtalk_worker_rate_changes_total{gpu=\"g2\"} 1\n"));
  CHECK_THAT(page, Catch::Contains("navtalk_worker_late_pictures_total{gpu=\"g2\"} 5\n"));
  for (const char* none : {"gateway", "pictures_total{gpu=\"g1\"}", "navtalk_worker_pictures_total",
                           "overflows", "stage"})
    CHECK_THAT(page, !Catch::Contains(none));
}

TEST_CASE("a gateway tells the figures of its workers, and does without one that does not answer") {
  LiveWorker worker;
  GatewayPool pool;
  const Gpu gpu = pool.add_worker_at(worker.url());
  pool.add_dead_worker();
  const Gpu elsewhere = pool.add_worker_at(worker.url(), "elsewhere");  // where another one listens
  pool.locked()->script("UPDATE gpus SET host = 'there' WHERE id = '" + elsewhere.id.text +
                        "'; COMMIT");
  Received received;
  MediaClient client(pool, received);
  REQUIRE(client.until_media(MediaKind::video));
  const std::string label = "gpu=\"" + gpu.id.text + "\"";
  std::string page;
  // On a busy machine the worker may not answer within the time of one page.
  REQUIRE(eventually([&] {
    page = ask("GET", pool.url() + "/metrics").text;
    return page.find(label) != std::string::npos;
  }));
  for (const std::string& line :
       {"\nnavtalk_worker_pictures_total{" + label + "} ",
        "\nnavtalk_worker_late_pictures_total{" + label + "} ",
        "\nnavtalk_worker_left_out_seconds_total{" + label + "} ",
        "\nnavtalk_worker_sound_ahead_seconds{" + label + "} ",
        "\nnavtalk_worker_live_sessions{fps=\"25\"," + label + "} ",
        "\nnavtalk_worker_stage_seconds_total{" + label + ",stage=\"encode\"} "})
    CHECK_THAT(page, Catch::Contains(line));
  CHECK_THAT(page, Catch::Contains("\nnavtalk_store_up 1\n"));
  CHECK_THAT(page, !Catch::Contains("\nnavtalk_worker_pictures_total{gpu=\"" + elsewhere.id.text));
}
