#include "runpod/audit.h"

#include "tests/runpod/scene.h"

using namespace navtalk;
using namespace navtalk::runpod;
using namespace std::chrono_literals;
using tests::RunpodServer;

namespace {

constexpr TimePoint k_start{std::chrono::hours(500000)};

PaidSpan span(const std::string& pod, Duration from, std::optional<Duration> to, double usd = 0.5) {
  return {.gpu = {"g-" + pod},
          .provider_id = pod,
          .usd_per_hour = usd,
          .from = k_start + from,
          .to = to ? std::optional(k_start + *to) : std::nullopt};
}

}  // namespace

TEST_CASE("spans are added up within the time that the bill covers") {
  const std::vector<PaidSpan> ledger = {span("a", -1h, 1h), span("b", 0h, 2h), span("a", 2h, 3h, 1),
                                        span("c", 3h, {})};
  const Audit result = audit(ledger, {}, k_start, k_start + 4h, 0.05);
  REQUIRE(result.rows.size() == 3);
  CHECK(result.rows[0].pod == "a");
  CHECK(result.rows[0].recorded_h == Approx(2));
  CHECK(result.rows[0].recorded_usd == Approx(1.5));
  CHECK(result.rows[1].recorded_usd == Approx(1));
  CHECK(result.rows[2].recorded_h == Approx(1));
  CHECK(result.recorded_usd == Approx(3));
  CHECK_FALSE(result.rows[0].billed_usd);
  CHECK(result.underrecorded.empty());
}

TEST_CASE("what is billed above the record is named, and so is what nobody recorded") {
  const std::vector<PaidSpan> ledger = {span("a", 0h, 2h), span("b", 0h, 2h), span("c", 0h, 2h)};
  const std::vector<PodBill> bills = {{"a", 0.6}, {"b", 1.04}, {"c", 1.2},
                                      {"a", 0.4}, {"z", 0.3},  {"z", 0.3}};
  const Audit result = audit(ledger, bills, k_start, k_start + 4h, 0.05);
  CHECK(result.underrecorded == std::vector<std::string>{"c"});
  REQUIRE(result.unrecorded.size() == 1);
  CHECK(result.unrecorded[0].pod == "z");
  CHECK(result.unrecorded[0].usd == Approx(0.6));
  CHECK(result.rows[0].billed_usd == Approx(1));
  CHECK(result.billed_usd == Approx(3.24));
}

TEST_CASE("the bill is read, and one that did not come whole is a fault") {
  RunpodServer server;
  const std::string pod = server.add_pod("navtalk-test");
  server.advance(2h);
  Api api(tests::quick_api(server), ApiKey("not-a-key"));
  const auto bills = api.pod_bills(7, {});
  const auto* const records = std::get_if<std::vector<PodBill>>(&bills);
  REQUIRE(records != nullptr);
  REQUIRE(records->size() == 1);
  CHECK(records->at(0).pod == pod);
  CHECK(records->at(0).usd == Approx(1).margin(0.01));
  CHECK_FALSE(parse_pod_bills(R"({"records": [{"podId": "a"}]})"));
  CHECK_FALSE(parse_pod_bills(R"({"records": [{"totalAmount": 1}]})"));
  CHECK_FALSE(parse_pod_bills("[]"));
  server.fault("bill", "bad-key");
  CHECK(std::get<ApiFault>(api.pod_bills(7, {})).kind == ApiFault::Kind::account);
}
