#include "scheduler/simulator/trace/trace.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>

#include "core/base/error.h"
#include "scheduler/simulator/trace/generate.h"
#include "tests/core/expect_error.h"
#include "tests/temporary_directory.h"

using namespace navtalk;
using namespace std::chrono_literals;

namespace {

struct Refusal {
  Code code = Code::failed;
  std::string message{};
};

Refusal refusal(const std::string& content) {
  const tests::TemporaryDirectory folder;
  const auto file = folder / "users.csv";
  std::ofstream(file) << content;
  try {
    read_trace(file);
  } catch (const Error& error) {
    return {error.code(), error.message()};
  }
  FAIL("was read: " << content);
  return {};
}

Trace read(const std::string& content) {
  const tests::TemporaryDirectory folder;
  std::ofstream(folder / "users.csv") << content;
  return read_trace(folder / "users.csv");
}

Trace made(Load load, std::uint64_t seed) {
  GenerateOptions options{.load = load};
  options.seed = seed;
  return generate(options);
}

}  // namespace

TEST_CASE("a trace is read in whatever order its columns stand, with others between them") {
  const Trace expected = {{0s, 60s}, {1500ms, 2s}};
  CHECK(read("arrival_s,duration_s\n0,60\n1.5,2\n") == expected);
  CHECK(read("tenant,duration_s,\"arrival_s\"\r\na,60,0\r\nb, 2, 1.5\r\n\n") == expected);
}

TEST_CASE("a quoted field may hold commas, quotes and line ends") {
  const Trace expected = {{0s, 60s}, {1500ms, 2s}};
  CHECK(read("arrival_s,duration_s,name\n0,60,\"Doe, Jane\"\n1.5,2,\"a \"\"b\"\", c\"\n") ==
        expected);
  CHECK(read("\"who, and where\",\"arrival_s\",duration_s\r\n\"x,y\" ,\"0\", 60\r\n,1.5 ,2\r\n") ==
        expected);
  CHECK(read("arrival_s,note,duration_s\n0,\"two\nlines\",60\n1.5,\"\",2\n") == expected);
}

TEST_CASE("a trace in Unix time counts from its first user") {
  CHECK(read("arrival_s,duration_s\n1700000000,1\n1700000002.5,1\n") ==
        Trace{{0s, 1s}, {2500ms, 1s}});
}

TEST_CASE("a bad line is refused with file, line and reason") {
  struct Bad {
    std::string content, phrase;
  };
  const std::vector<Bad> all = {
      {"", "line 1 is empty"},
      {"arrival_s,length\n1,2\n", "line 1 has no column duration_s"},
      {"arrival_s,duration_s\n", "no session"},
      {"arrival_s,duration_s\n1,2\n2\n", "line 3 has 1 columns, the heading has 2"},
      {"arrival_s,duration_s\n1,x\n", "line 2 has duration_s = \"x\""},
      {"arrival_s,duration_s\n1,-2\n", "line 2 has duration_s = \"-2\""},
      {"arrival_s,duration_s\nnan,2\n", "line 2 has arrival_s = \"nan\""},
      {"arrival_s,duration_s\n1,2e30\n", "line 2 has duration_s"},
      {"arrival_s,duration_s\n1,2\n2,1e9\n", "line 3 has duration_s = 1000000000, which is more"},
      {"arrival_s,duration_s\n1,2\n1e9,2\n", "line 3 comes more than 400 days after the first"},
      {"arrival_s,duration_s\n1,\n", "line 2 has duration_s"},
      {"arrival_s,duration_s,n\n1,2,\"a\nb\"\n1,x,\"c\"\n", "line 4 has duration_s = \"x\""},
      {"arrival_s,duration_s,n\n1,2,a\n1,2,\"c\n3,4,d\n", "line 3 has a quote that is not closed"},
      {"arrival_s,duration_s,n\n1,2,\"c\"d\n", "line 2 has text behind a closing quote"},
      {"arrival_s,duration_s\n5,2\n4,2\n", "line 3 comes before the line above it"},
  };
  for (const Bad& bad : all) {
    const Refusal refused = refusal(bad.content);
    INFO(refused.message);
    CHECK(refused.code == Code::invalid);
    CHECK_THAT(refused.message, Catch::Contains("users.csv") && Catch::Contains(bad.phrase));
  }
  CHECK_THROWS_AS(read_trace("/nowhere/users.csv"), Error);
}

TEST_CASE("a directory in place of a trace is called one") {
  const tests::TemporaryDirectory folder;
  test::expect_error(Code::invalid, {folder.path(), "is a directory"},
                     [&] { read_trace(folder.path()); });
}

TEST_CASE("what is written as CSV is read back") {
  const Trace trace = generate({.load = Load::bursty, .days = 0.2, .sessions = 200});
  const Trace again = read(as_csv(trace));
  REQUIRE(again.size() == trace.size());
  CHECK(as_csv(again) == as_csv(trace));
}

TEST_CASE("made loads have the size, the mean and the unevenness that they are named for") {
  for (const std::uint64_t seed : {1, 2}) {
    const TraceFacts smooth = facts(made(Load::smooth, seed));
    CHECK(smooth.sessions == Approx(27000).epsilon(0.03));
    CHECK(smooth.mean_s == Approx(300).epsilon(0.03));
    CHECK(smooth.span_h == Approx(23 * 24).epsilon(0.01));
    CHECK(smooth.burst_1min == Approx(1).margin(0.05));
    CHECK(smooth.burst_10min == Approx(1).margin(0.1));
    const TraceFacts diurnal = facts(made(Load::diurnal, seed));
    CHECK(diurnal.burst_1min == Approx(1.2).margin(0.1));
    CHECK(diurnal.burst_10min == Approx(2.8).margin(0.4));
    const TraceFacts bursty = facts(made(Load::bursty, seed));
    CHECK(bursty.sessions == Approx(27000).epsilon(0.03));
    CHECK(bursty.burst_1min > 2.5);
    CHECK(bursty.burst_1min < 6);
    CHECK(bursty.burst_10min > 17);
    CHECK(bursty.burst_10min < 40);
  }
  CHECK(made(Load::bursty, 1) == made(Load::bursty, 1));
  CHECK_FALSE(made(Load::bursty, 1) == made(Load::bursty, 2));
}

TEST_CASE("users of a made load come in order") {
  const Trace trace = made(Load::bursty, 3);
  CHECK(std::is_sorted(trace.begin(), trace.end(),
                       [](const auto& a, const auto& b) { return a.arrival < b.arrival; }));
}
