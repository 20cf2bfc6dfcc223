// The rules that need no network: retry, quota, faults, places, the table of states.
#include <catch2/catch.hpp>

#include "runpod/api/fault.h"
#include "runpod/api/rate_limit.h"
#include "runpod/api/retry.h"
#include "runpod/candidates.h"
#include "runpod/instance_status.h"

using namespace navtalk;
using namespace navtalk::runpod;
using namespace std::chrono_literals;
using Milliseconds = std::chrono::milliseconds;

TEST_CASE("a retry waits with full jitter, doubling from 1 s to 30 s, five calls in all") {
  const RetryPolicy policy;
  struct Row {
    int tries;
    double jitter;
    std::optional<Milliseconds> asked, expected;
  };
  const Row row = GENERATE(values<Row>({
      {1, 0.0, {}, 0ms},
      {1, 1.0, {}, 1000ms},
      {1, 0.5, {}, 500ms},
      {2, 1.0, {}, 2000ms},
      {3, 1.0, {}, 4000ms},
      {4, 1.0, {}, 8000ms},
      {4, 0.25, {}, 2000ms},
      {5, 0.0, {}, std::nullopt},
      {9, 0.0, {}, std::nullopt},
      // the server's word is the least wait
      {1, 0.0, 12s, 12s},
      {4, 1.0, 3s, 8000ms},
      {5, 1.0, 3s, std::nullopt},
      // more than anybody waits for
      {1, 0.0, 61s, std::nullopt},
      {1, 0.0, 60s, 60s},
      // nonsense from a random source
      {1, 7.0, {}, 1000ms},
      {1, -1.0, {}, 0ms},
  }));
  CAPTURE(row.tries, row.jitter);
  CHECK(retry_delay(policy, row.tries, row.asked, row.jitter) == row.expected);
}

TEST_CASE("a retry never waits longer than the policy's most") {
  RetryPolicy policy;
  policy.tries = 100;
  CHECK(retry_delay(policy, 6, {}, 1.0) == 30s);
  CHECK(retry_delay(policy, 90, {}, 1.0) == 30s);
}

TEST_CASE("the quota header is read window by window") {
  const auto windows =
      parse_rate_limit(R"("minute";r=0;t=12, "hour";r=2800;t=1812, "day";r=49500;t=45012)");
  CHECK(windows ==
        std::vector<RateWindow>{{"minute", 0, 12s}, {"hour", 2800, 1812s}, {"day", 49500, 45012s}});
  CHECK(parse_rate_limit(R"("minute";t=5;x=1;r=3)") == std::vector<RateWindow>{{"minute", 3, 5s}});
  for (const char* bad : {"", ",", "minute;r=1;t=1", R"("m";r=-1;t=1)", R"("m";r=1)",
                          R"("m";r=x;t=1)", R"(";r=1;t=1)", "\"\""}) {
    CAPTURE(bad);
    CHECK(parse_rate_limit(bad).empty());
  }
  CHECK(parse_rate_limit(R"(nonsense, "hour";r=1;t=9)").size() == 1);
  CHECK(parse_rate_limit(R"("m";r=0;t=99999999999)")[0].reset == 86400s);
}

TEST_CASE("with several windows used up the longest is waited for") {
  const Clock::time_point now{};
  RateLimit rate;
  rate.read(R"("minute";r=5;t=12)", now);
  CHECK(rate.wait(now) == 0ms);
  rate.read(R"("minute";r=0;t=12, "hour";r=0;t=100, "day";r=9;t=900)", now);
  CHECK(rate.wait(now) == 100s);
  CHECK(rate.wait(now + 99s) == 1s);
  CHECK(rate.wait(now + 100s) == 0ms);
  rate.refused(5s, now + 200s);
  CHECK(rate.wait(now + 200s) == 5s);
}

TEST_CASE("Retry-After is taken in seconds only") {
  CHECK(parse_retry_after("12") == 12s);
  CHECK(parse_retry_after(" 0 ") == 0s);
  for (const char* bad : {"", "soon", "-1", "1.5", "Fri, 31 Dec 1999 23:59:59 GMT"}) {
    CHECK_FALSE(parse_retry_after(bad));
  }
}

TEST_CASE("each status of an answer has its meaning, and only some may be tried again") {
  using Kind = ApiFault::Kind;
  const std::string own = R"({"title":"T","status":1,"detail":"words"})";
  const auto [status, body, kind, passing] = GENERATE_COPY(table<int, std::string, Kind, bool>({
      {400, own, Kind::rejected, false},
      {401, own, Kind::account, false},
      {402, own, Kind::account, false},
      {403, own, Kind::forbidden, false},
      {403, "error code: 1010", Kind::edge_block, false},
      {403, "<html>", Kind::edge_block, false},
      {403, "", Kind::edge_block, false},
      {404, own, Kind::not_found, false},
      {404, "", Kind::not_found, false},
      {404, " <!DOCTYPE html>", Kind::unknown, true},
      {409, own, Kind::conflict, false},
      {410, own, Kind::api_gone, false},
      {413, own, Kind::bad_request, false},
      {422, own, Kind::bad_request, false},
      {418, own, Kind::bad_request, false},
      {429, own, Kind::rate_limited, true},
      {500, own, Kind::unknown, true},
      {502, "<html>", Kind::unknown, true},
      {599, "", Kind::unknown, true},
      {302, "", Kind::unknown, true},
  }));
  CAPTURE(status, body);
  const ApiFault fault = fault_of(HttpAnswer{.status = status, .body = body});
  CHECK(fault.kind == kind);
  CHECK(fault.passing() == passing);
  CHECK_THAT(fault.message, Catch::Contains(std::to_string(status)));
}

TEST_CASE("a call that was never sent is told from one that may have been done") {
  using Kind = ApiFault::Kind;
  using Http = HttpFault::Kind;
  CHECK(fault_of(HttpFault{Http::connect, false}).kind == Kind::unreachable);
  CHECK(fault_of(HttpFault{Http::timeout, false}).kind == Kind::unreachable);
  CHECK(fault_of(HttpFault{Http::timeout, true}).kind == Kind::unknown);
  CHECK(fault_of(HttpFault{Http::broken, true}).kind == Kind::unknown);
  CHECK(fault_of(HttpFault{Http::too_long, true}).kind == Kind::unknown);
  CHECK(fault_of(HttpFault{Http::stopped, true}).kind == Kind::stopped);
}

TEST_CASE("full places and refused resumes are known by their words") {
  CHECK(
      says_no_capacity("There are no longer any instances available with the requested "
                       "specifications. Please refresh and try again."));
  CHECK(says_no_capacity("HTTP 400: there are NO LONGER ANY INSTANCES AVAILABLE"));
  CHECK_FALSE(says_no_capacity("request could not be processed"));
  CHECK(says_resume_impossible(
      "There are not enough free GPUs on the host machine to start this pod."));
  CHECK_FALSE(says_resume_impossible("the action is not valid"));
}

namespace {

GpuOffer offer(const std::string& type, Availability stock,
               std::map<std::string, Availability> centers = {}) {
  return {.gpu_type = type,
          .secure_usd_per_hour = 0.5,
          .community_usd_per_hour = 0,
          .availability = stock,
          .data_centers = std::move(centers)};
}

std::string listed(const std::vector<Candidate>& candidates) {
  std::string text;
  for (const Candidate& c : candidates) {
    text +=
        (text.empty() ? "" : "; ") + c.gpu_type + " " + c.cloud.substr(0, 1) + " " + c.data_center;
  }
  return text;
}

}  // namespace

TEST_CASE("without a catalog places stand as they were wished") {
  const Preferences preferences{{"A", "B"}, {"SECURE", "COMMUNITY"}, {"x", "y"}};
  CHECK(listed(candidates(preferences, {})) ==
        "A S x; A S y; A C x; A C y; B S x; B S y; B C x; B C y");
  CHECK(listed(candidates({{"A"}, {"SECURE"}, {}}, {})) == "A S ");
}

TEST_CASE("stock orders the places of one GPU type, and empty ones come last of all") {
  const Preferences preferences{{"A", "B"}, {"SECURE"}, {"x", "y", "z"}};
  using enum Availability;
  const Catalog catalog{{"SECURE",
                         {offer("A", high, {{"x", low}, {"y", high}, {"z", none}}),
                          offer("B", low, {{"x", medium}, {"y", unknown}})}}};
  CHECK(listed(candidates(preferences, catalog)) == "A S y; A S x; B S x; B S y; A S z; B S z");
  CHECK(price({"A", "SECURE", "x"}, catalog) == 0.5);
  CHECK_FALSE(price({"A", "COMMUNITY", "x"}, catalog));
  CHECK_FALSE(price({"C", "SECURE", "x"}, catalog));
}

TEST_CASE("a place that refused cooldowns, longer each time, from 1 to 10 minutes") {
  Cooldowns cooldowns(1min, 10min);
  const Candidate place{"A", "SECURE", "x"}, other{"A", "SECURE", "y"};
  Clock::time_point now{};
  for (const auto length : {1min, 2min, 4min, 8min, 10min, 10min}) {
    cooldowns.refused(place, now);
    CHECK(cooldowns.cooling_down(place, now + length - 1s));
    CHECK_FALSE(cooldowns.cooling_down(place, now + length));
    now += 1h;
  }
  CHECK_FALSE(cooldowns.cooling_down(other, now));
  cooldowns.accepted(place);
  cooldowns.refused(place, now);
  CHECK_FALSE(cooldowns.cooling_down(place, now + 1min));
}

TEST_CASE("the first place to be free again is waited for") {
  Cooldowns cooldowns(1min, 10min);
  const Candidate a{"A", "SECURE"}, b{"B", "SECURE"};
  const Clock::time_point now{};
  CHECK(cooldowns.wait({a, b}, now) == 0ms);
  cooldowns.refused(a, now);
  CHECK(cooldowns.wait({a, b}, now) == 0ms);
  CHECK(cooldowns.wait({a}, now) == 60s);
  cooldowns.refused(b, now + 30s);
  CHECK(cooldowns.wait({a, b}, now + 30s) == 30s);
  CHECK(cooldowns.wait({}, now) == 0ms);
}

TEST_CASE("every pod status has its word in a provider's list") {
  CHECK(instance_status(PodStatus::provisioning) == Instance::Status::starting);
  CHECK(instance_status(PodStatus::starting) == Instance::Status::starting);
  CHECK(instance_status(PodStatus::running) == Instance::Status::running);
  CHECK(instance_status(PodStatus::exited) == Instance::Status::stopped);
  CHECK(instance_status(PodStatus::error) == Instance::Status::failed);
  CHECK(instance_status(PodStatus::terminated) == Instance::Status::gone);
  CHECK(instance_status(PodStatus::unknown) == Instance::Status::unknown);
}
