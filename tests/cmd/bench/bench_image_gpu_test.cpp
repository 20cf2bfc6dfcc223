// The GPU's rows of `navtalk bench image`, with a device of the test's own making in place of gpu/cuda/devices.h and
// gpu/image/device/image_bench.h.
#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "cmd/bench/image.h"
#include "cmd/context.h"
#include "cmd/render_module/bodies.h"
#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "gpu/cuda/devices.h"
#include "gpu/image/device/image_bench.h"
#include "tests/cmd/bench/printed.h"

using namespace navtalk;

namespace navtalk::cuda {

Devices devices() {
  return {{{.name = "Test GPU",
            .capability = 90,
            .multiprocessors = 132,
            .memory_bytes = std::size_t{1} << 30}},
          {}};
}

// Copies at 4 GB/s. A resize moves 1 MB, which takes 0.25 ms at that rate, in 0.5 ms.
void bench_images(const BenchPictures& pictures, std::chrono::duration<double>,
                  const std::stop_token& stop, ImageBench& bench) {
  const std::chrono::duration<double> half_ms(0.0005 * pictures.batch);
  bench.bytes_per_second = 4e9;
  bench.times.push_back(
      {"resize, linear", "face", 1000000 * pictures.batch, {half_ms, half_ms, 2 * half_ms}});
  throw_if_stopped(stop);
  if (pictures.batch == 3) throw Error(Code::failed, "the launches: an illegal address");
  bench.times.push_back({"copy to device", "frame", 0, {half_ms}});
}

}  // namespace navtalk::cuda

namespace {

std::string printed(bool json, const std::string& device) {
  return tests::printed(json, [&](cmd::Context& context) {
    return cmd::bench_image({.sizes = {"512"}, .batches = {2}, .seconds = 0, .device = device},
                            context);
  });
}

// With one space between its words, however wide the columns are.
std::string line_of(const std::string& text, const std::string& start) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto both_spaces = [](char a, char b) { return a == ' ' && b == ' '; };
    line.erase(std::unique(line.begin(), line.end(), both_spaces), line.end());
    if (line.rfind(start, 0) == 0) return line;
  }
  return {};
}

}  // namespace

TEST_CASE(
    "bench image gives a GPU rows of its own, per picture, with their share of the roofline") {
  const auto report = nlohmann::json::parse(printed(true, "auto"));
  CHECK(report["gpu"]["name"] == "Test GPU");
  CHECK(report["gpu"]["copy_gb_per_s"] == 4.0);
  int rows = 0;
  for (const auto& row : report["rows"]) {
    if (row["device"] == "cpu") continue;
    ++rows;
    CHECK(row["device"] == "cuda:0");
    CHECK(row["median"].get<double>() == Approx(0.5));
    if (row["name"] != "resize, linear") {
      CHECK(!row.contains("roofline_percent"));
      CHECK(row["width"] == 512);
      continue;
    }
    CHECK(row["p99"].get<double>() == Approx(1.0));
    CHECK(row["roofline_percent"].get<double>() == Approx(50));
    CHECK(row["width"] == 306);
  }
  CHECK(rows == 2);
}

TEST_CASE("bench image's table has the GPU beside the CPU, and leaves out what one of them lacks") {
  const std::string text = printed(false, "cuda");
  CHECK(line_of(text, "GPU: Test GPU, 132 multiprocessors") != "");
  CHECK(line_of(text, "operation").find("cpu/gpu") != std::string::npos);
  CHECK(line_of(text, "resize, linear 512 face").find(" 0.50000 1.00000") != std::string::npos);
  CHECK(line_of(text, "resize, linear 512 face").find("50 %") != std::string::npos);
  CHECK(line_of(text, "resize, linear 512 frame").find("0.50000") == std::string::npos);
  CHECK(line_of(text, "copy to device").find("0.50000") != std::string::npos);
}

TEST_CASE("bench image leaves a GPU alone that it is not to time") {
  const std::string text = printed(false, "cpu");
  CHECK(line_of(text, "no GPU column: not asked for") != "");
  CHECK(text.find("cpu/gpu") == std::string::npos);
}

TEST_CASE("bench image prints the rows that it has measured when it is stopped") {
  std::stop_source stop;
  bool ended = false;
  const std::string text = tests::printed(true, [&](cmd::Context& context) {
    context.stop = stop.get_token();
    stop.request_stop();
    try {
      cmd::bench_image({.sizes = {"512"}, .batches = {2}, .seconds = 0, .device = "cuda"}, context);
    } catch (const Error& error) {
      ended = error.code() == Code::interrupted || error.code() == Code::terminated;
    }
    return 0;
  });
  CHECK(ended);
  const auto rows = nlohmann::json::parse(text)["rows"];
  REQUIRE(rows.size() == 1);
  CHECK(rows[0]["name"] == "resize, linear");
  CHECK(rows[0]["device"] == "cuda:0");
}

TEST_CASE("bench image fails with the device, and prints the rows before that") {
  std::string why;
  const std::string text = tests::printed(true, [&](cmd::Context& context) {
    try {
      cmd::bench_image({.sizes = {"512"}, .batches = {3}, .seconds = 0, .device = "cuda"}, context);
    } catch (const Error& error) {
      why = error.what();
    }
    return 0;
  });
  CHECK(why == "the launches: an illegal address");
  CHECK(nlohmann::json::parse(text)["rows"].size() == 1);
}

TEST_CASE("bench image times whole frames before faces") {
  const auto report = nlohmann::json::parse(printed(true, "cpu"));
  bool faces = false;
  for (const auto& row : report["rows"]) {
    faces = faces || row["area"] == "face";
    CHECK(faces == (row["area"] == "face"));
  }
  CHECK(faces);
}
