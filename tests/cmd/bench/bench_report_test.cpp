#include "cmd/bench/report.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "core/base/error.h"

namespace navtalk::cmd {
namespace {

std::vector<std::chrono::duration<double>> seconds(int count) {
  std::vector<std::chrono::duration<double>> runs;
  for (int i = count; i > 0; --i) runs.emplace_back(i);
  return runs;
}

}  // namespace

TEST_CASE("the median is the middle run, or the mean of the two in the middle") {
  CHECK(timing_of(seconds(1)).median.count() == 1);
  CHECK(timing_of(seconds(5)).median.count() == 3);
  CHECK(timing_of(seconds(6)).median.count() == 3.5);
}

TEST_CASE("p99 is exceeded by one run in a hundred at most, and of few runs it is the longest") {
  CHECK(timing_of(seconds(5)).p99.count() == 5);
  CHECK(timing_of(seconds(100)).p99.count() == 99);
  CHECK(timing_of(seconds(1000)).p99.count() == 990);
}

TEST_CASE("work is measured five times even when one run takes longer than the budget") {
  int calls = 0;
  const Timing timing = measure([&] { ++calls; }, std::chrono::duration<double>(0), {});
  CHECK(timing.runs == 5);
  CHECK(calls == 6);  // the first one warms up
}

TEST_CASE("the machine stands in words and in JSON") {
  const Machine machine{"CPU", "avx2", 1, 2, 15.96, "2.11.0"};
  CHECK(machine_text(machine) == "CPU, avx2, 1 core, 2 threads, 16.0 GiB, libtorch 2.11.0");
  CHECK(
      machine_json(machine).dump() ==
      R"({"cpu":"CPU","isa":"avx2","cores":1,"threads":2,"memory_gib":16.0,"libtorch":"2.11.0"})");
}

}  // namespace navtalk::cmd
