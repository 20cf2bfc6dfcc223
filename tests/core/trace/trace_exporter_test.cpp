// Traces go to a collector in batches, again where that may help, and are lost rather than waited for.
#include "core/trace/trace_exporter.h"

#include <catch2/catch.hpp>
#include <condition_variable>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/core/expect_error.h"
#include "tests/fakes/loopback_server.h"

using namespace navtalk;
using namespace std::chrono_literals;
using nlohmann::json;
using tests::Connection;
using tests::LoopbackServer;
using tests::ReceivedRequest;

namespace {

// Answers with a script's statuses, then 200; keeps the names of the spans that it took.
class Collector {
 public:
  struct Answer {
    int status = 200;
    std::string body = "{}";
  };
  explicit Collector(std::vector<Answer> script = {})
      : script_(std::move(script)),
        server_([this](Connection& client, const ReceivedRequest& request) {
          const Answer answer = take(request);
          client.answer(answer.status, answer.body);
        }) {}

  TraceOptions options() const {
    return {.url = server_.url("/v1/traces"), .collect = 1ms, .first_wait = 1ms};
  }
  // What it took, once it had so many requests.
  std::vector<std::string> names_after(std::size_t requests) {
    std::unique_lock lock(mutex_);
    REQUIRE(more_.wait_for(lock, 30s, [&] { return requests_ >= requests; }));
    return names_;
  }
  std::vector<std::size_t> sizes() {
    const std::lock_guard lock(mutex_);
    return sizes_;
  }

 private:
  Answer take(const ReceivedRequest& request) {
    const std::lock_guard lock(mutex_);
    const Answer answer = requests_ < script_.size() ? script_[requests_] : Answer{};
    ++requests_;
    const json body = json::parse(request.body);
    const json& spans = body["resourceSpans"][0]["scopeSpans"][0]["spans"];
    sizes_.push_back(spans.size());
    if (answer.status == 200)
      for (const json& span : spans) names_.push_back(span["name"]);
    more_.notify_all();
    return answer;
  }

  std::vector<Answer> script_;
  std::mutex mutex_;
  std::condition_variable more_;
  std::size_t requests_ = 0;
  std::vector<std::string> names_;
  std::vector<std::size_t> sizes_;
  LoopbackServer server_;  // last: its threads use the rest
};

std::vector<Span> some(std::size_t count) {
  std::vector<Span> spans(count);
  for (std::size_t i = 0; i < count; ++i) spans[i].name = std::to_string(i);
  return spans;
}

}  // namespace

TEST_CASE("a trace that a collector cannot take now is sent again, and once") {
  Collector collector({{503}, {429}, {502}, {504}});
  TraceExporter exporter(collector.options());
  exporter.add(some(2));
  CHECK(collector.names_after(5) == std::vector<std::string>{"0", "1"});
}

TEST_CASE("a trace that a collector refuses for good is not sent again") {
  for (const int status : {400, 401, 404, 500}) {
    Collector collector(std::vector<Collector::Answer>{{status}});
    {
      TraceExporter exporter(collector.options());
      exporter.add(some(1));
      // The end would break off a request whose answer has not come, and send it once more.
      const auto until = std::chrono::steady_clock::now() + 30s;
      while (exporter.counts().lost == 0 && std::chrono::steady_clock::now() < until)
        std::this_thread::sleep_for(1ms);
      exporter.add(some(1));
    }
    CHECK(collector.names_after(2) == std::vector<std::string>{"0"});
    CHECK(collector.sizes().size() == 2);
  }
}

TEST_CASE("what waits at the end is sent, and a collector that is away holds nothing up") {
  Collector collector;
  {
    TraceOptions late = collector.options();
    late.collect = 1h;
    TraceExporter exporter(late);
    exporter.add(some(3));
  }
  CHECK(collector.names_after(1).size() == 3);
  TraceOptions away = collector.options();
  away.url = "http://127.0.0.1:1/v1/traces";
  away.first_wait = 1h;
  TraceExporter exporter(away);
  exporter.add(some(3));
}

TEST_CASE("more spans than may wait are lost, and counted") {
  Collector collector;
  TraceOptions narrow = collector.options();
  narrow.most_waiting = 5;
  narrow.batch = 2;
  narrow.collect = 1h;
  TraceExporter::Counts counts;
  {
    TraceExporter exporter(narrow);
    exporter.add(some(9));
    counts = exporter.counts();
  }
  CHECK(counts.lost == 4);
  CHECK(collector.names_after(3).size() == 5);
  for (const std::size_t size : collector.sizes()) CHECK(size <= 2);
}

TEST_CASE("a request has what OTLP asks for") {
  Span span{.trace = new_trace_id(),
            .id = new_span_id(),
            .name = "n",
            .kind = Span::Kind::client,
            .begin = std::chrono::system_clock::time_point(3s),
            .end = std::chrono::system_clock::time_point(2s),
            .attributes = {{"a", std::string("x")}, {"b", std::int64_t{7}}, {"c", true}},
            .error = "why"};
  const json request = json::parse(otlp_request({.version = "1"}, {span}));
  const json& told = request["resourceSpans"][0]["scopeSpans"][0]["spans"][0];
  CHECK(told["traceId"].get<std::string>().size() == 32);
  CHECK(told["spanId"].get<std::string>().size() == 16);
  CHECK_FALSE(told.contains("parentSpanId"));
  CHECK(told["kind"] == 3);
  CHECK(told["startTimeUnixNano"] == "3000000000");
  CHECK(told["endTimeUnixNano"] == "3000000000");  // no span ends before it begins
  CHECK(told["attributes"][1]["value"]["intValue"] == "7");
  CHECK(told["attributes"][2]["value"]["boolValue"] == true);
  CHECK(told["status"]["code"] == 2);
  CHECK(request["resourceSpans"][0]["resource"]["attributes"][0]["value"]["stringValue"] ==
        "navtalk");
}

TEST_CASE("a collector may take a part of a request") {
  CHECK(parse_otlp_answer("").rejected == 0);
  CHECK(parse_otlp_answer("{}").rejected == 0);
  CHECK(parse_otlp_answer(R"({"partialSuccess":{"rejectedSpans":3}})").rejected == 3);
  const PartialSuccess partial =
      parse_otlp_answer(R"({"partialSuccess":{"rejectedSpans":"4","errorMessage":"old"}})");
  CHECK(partial.rejected == 4);
  CHECK(partial.message == "old");
  Collector collector(
      std::vector<Collector::Answer>{{200, R"({"partialSuccess":{"rejectedSpans":"1"}})"}});
  TraceExporter exporter(collector.options());
  exporter.add(some(3));
  collector.names_after(1);
  const auto end = std::chrono::steady_clock::now() + 30s;
  TraceExporter::Counts counts;
  while (counts.sent + counts.lost < 3 && std::chrono::steady_clock::now() < end)
    counts = exporter.counts();
  CHECK(counts.sent == 2);
  CHECK(counts.lost == 1);
}

TEST_CASE("a share of nought traces no session, and a URL that is none is refused") {
  Collector collector;
  TraceOptions none = collector.options();
  none.share = 0;
  const TraceExporter exporter(none);
  for (int i = 0; i < 100; ++i) CHECK_FALSE(exporter.takes_next());
  test::expect_error(Code::invalid, {"nonsense"}, [] { TraceExporter wrong({.url = "nonsense"}); });
}

TEST_CASE("traces that no request can carry are lost, and the process goes on") {
  Collector collector;
  TraceOptions options = collector.options();
  options.authorization = "Bearer sesame\nX-Tenant: 7";
  TraceExporter exporter(options);
  exporter.add(some(1));
  const auto until = std::chrono::steady_clock::now() + 60s;
  while (exporter.counts().lost == 0 && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(1ms);
  CHECK(exporter.counts().lost == 1);
  exporter.add(some(1));
}
