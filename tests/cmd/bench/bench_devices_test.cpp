// `navtalk bench pipeline`'s columns, with a CPU and a GPU of the test's own making.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "cmd/render_module/pipeline/pipeline_bench.h"
#include "core/base/error.h"
#include "tests/cmd/bench/printed.h"

using namespace navtalk;
using namespace navtalk::cmd;

namespace {

Timing timing_ms(double median, double p99) {
  using Ms = std::chrono::duration<double, std::milli>;
  return {.median = Ms(median), .p99 = Ms(p99), .runs = 7};
}

// Two faces of grey, the second one `off` levels brighter than fp32's.
NdArray<std::uint8_t> faces(int off) {
  NdArray<std::uint8_t> made({2, 16, 16, 3});
  for (std::size_t i = 0; i < made.values.size(); ++i)
    made.values[i] = static_cast<std::uint8_t>(100 + i % 60 + (i >= 16 * 16 * 3 ? off : 0));
  return made;
}

// The CPU's fp32 takes 40 ms a frame and its bf16 20 ms; the GPU's fp16 takes 0.5 ms, at least 0.1, and 2 ms until the host has it.
class Devices {
 public:
  BenchedDevice cpu(std::vector<std::string> precisions) {
    return device("cpu", std::move(precisions), [](const std::string& precision) {
      const double frame = precision == "fp32" ? 40 : 20;
      return std::vector<StageTimes>{{.stage = "log-mel",
                                      .unit = "ms per 30 s",
                                      .device = "cpu",
                                      .of_nets = false,
                                      .host = timing_ms(3, 4)},
                                     {.stage = "frame",
                                      .unit = "ms per frame",
                                      .device = "cpu",
                                      .batch = 2,
                                      .host = timing_ms(2 * frame, 3 * frame),
                                      .least_s = 2 * frame / 1000 / 4}};
    });
  }
  BenchedDevice gpu(std::vector<std::string> precisions) {
    return device("cuda:0", std::move(precisions), [](const std::string&) {
      return std::vector<StageTimes>{
          {.stage = "frame",
           .unit = "ms per frame",
           .device = "cuda:0",
           .batch = 2,
           .host = timing_ms(4, 5),
           .events = timing_ms(1, 1.5),
           .least_s = 0.0002},
          {.stage = "pause", .unit = "ms for 3 MiB", .device = "cuda:0", .host = timing_ms(8, 9)}};
    });
  }
  std::string loaded{};  // in this order

 private:
  BenchedDevice device(const std::string& name, std::vector<std::string> precisions,
                       std::function<std::vector<StageTimes>(const std::string&)> times) {
    return {.name = name,
            .precisions = std::move(precisions),
            .load =
                [this, name, times](const std::string& precision) {
                  loaded += name + "/" + precision + " ";
                  const int off = precision == "fp32" ? 0 : precision == "bf16" ? 4 : 1;
                  return BenchedNets{.precision = precision,
                                     .times = [=] { return times(precision); },
                                     .faces = [off] { return faces(off); }};
                },
            .rates =
                [] {
                  return std::vector<MeasuredRates>{
                      {.precision = "fp32", .flop_per_s = 2e11, .bytes_per_s = 3e10}};
                }};
  }
};

nlohmann::json json_of(const PipelineReport& report) {
  return nlohmann::json::parse(tests::printed(true, [&](Context& context) {
    print_pipeline(report, 1, context);
    return 0;
  }));
}

std::string text_of(const PipelineReport& report) {
  return tests::printed(false, [&](Context& context) {
    print_pipeline(report, 1, context);
    return 0;
  });
}

PipelineReport benched(const BenchedDevice& cpu, const std::optional<BenchedDevice>& gpu) {
  PipelineReport report;
  tests::printed(true, [&](Context& context) {
    report = bench_devices(cpu, gpu, context);
    return 0;
  });
  return report;
}

nlohmann::json row_of(const nlohmann::json& report, const std::string& device,
                      const std::string& precision, const std::string& stage) {
  for (const auto& row : report["rows"])
    if (row["device"] == device && row.value("precision", "") == precision && row["name"] == stage)
      return row;
  FAIL("no row of " << stage << " in " << precision << " on " << device);
  return {};
}

std::string line_of(const std::string& text, const std::string& start) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.rfind(start, 0) == 0) return line;
  return {};
}

}  // namespace

TEST_CASE("bench pipeline has the GPU's times beside the CPU's, by the GPU's own clock") {
  Devices devices;
  PipelineReport report = benched(devices.cpu({"fp32", "bf16"}), devices.gpu({"fp16"}));
  report.gpu = "cuda:0, Test GPU";
  CHECK(devices.loaded == "cpu/fp32 cpu/bf16 cuda:0/fp16 ");
  const nlohmann::json all = json_of(report);
  const nlohmann::json gpu = row_of(all, "cuda:0", "fp16", "frame");
  CHECK(gpu["clock"] == "events");
  CHECK(gpu["median"].get<double>() == Approx(0.5));
  CHECK(gpu["p99"].get<double>() == Approx(0.75));
  CHECK(gpu["runs"] == 7);
  CHECK(gpu["host"]["median"].get<double>() == Approx(2));
  CHECK(gpu["roofline_percent"].get<double>() == Approx(20));
  CHECK(gpu["frames_per_second"].get<double>() == Approx(2000));
  // With the fastest that the CPU has: bf16.
  CHECK(gpu["cpu_over_gpu"].get<double>() == Approx(40));
  const nlohmann::json cpu = row_of(all, "cpu", "fp32", "frame");
  CHECK(cpu["clock"] == "host");
  CHECK(cpu["median"].get<double>() == Approx(40));
  CHECK(cpu["roofline_percent"].get<double>() == Approx(25));
  CHECK(!cpu.contains("cpu_over_gpu"));
  CHECK(!row_of(all, "cpu", "", "log-mel").contains("precision"));
  CHECK(row_of(all, "cuda:0", "fp16", "pause")["clock"] == "host");
  CHECK(!row_of(all, "cuda:0", "fp16", "pause").contains("cpu_over_gpu"));
  CHECK(all["rates"][0]["gflop_per_s"].get<double>() == Approx(200));
  const std::string text = text_of(report);
  CHECK_THAT(line_of(text, "stage"), Catch::Contains("cpu/gpu"));
  CHECK_THAT(line_of(text, "frame    fp16"), Catch::Contains("0.5000"));
  CHECK_THAT(line_of(text, "frame    fp16"), Catch::Contains("20 %"));
  CHECK_THAT(line_of(text, "frame    fp16"), Catch::Contains("40.0"));
  CHECK_THAT(line_of(text, "frame    bf16"), Catch::Contains("20.00"));
}

TEST_CASE("bench pipeline has both columns in one line where both compute in that format") {
  Devices devices;
  PipelineReport report = benched(devices.cpu({"fp32"}), devices.gpu({"fp32"}));
  report.gpu = "cuda:0, Test GPU";
  const std::string line = line_of(text_of(report), "frame    fp32");
  CHECK_THAT(line, Catch::Contains("40.00") && Catch::Contains("0.5000"));
  // Both are there, and the GPU's 0.5 ms are an eightieth of 40.
  CHECK_THAT(line, Catch::Contains("80.0"));
}

TEST_CASE("bench pipeline holds every format's faces against fp32 on the CPU, the worst face") {
  Devices devices;
  const nlohmann::json all =
      json_of(benched(devices.cpu({"fp32", "bf16"}), devices.gpu({"fp32", "fp16"})));
  REQUIRE(all["against_fp32"].size() == 3);
  const auto& bf16 = all["against_fp32"][0];
  CHECK(bf16["device"] == "cpu");
  CHECK(bf16["precision"] == "bf16");
  // Four levels everywhere in the second face, none in the first.
  CHECK(bf16["psnr_db"].get<double>() == Approx(20 * std::log10(255 / 4.0)));
  CHECK(bf16["ssim"].get<double>() < 1);
  CHECK(bf16["ssim"].get<double>() > 0.99);
  const auto& equal = all["against_fp32"][1];
  CHECK(equal["device"] == "cuda:0");
  CHECK(equal["psnr_db"].is_null());
  CHECK(equal["ssim"].get<double>() == Approx(1));
  const auto& fp16 = all["against_fp32"][2];
  CHECK(fp16["psnr_db"].get<double>() == Approx(20 * std::log10(255)));
  CHECK(fp16["ssim"].get<double>() > bf16["ssim"].get<double>());
}

TEST_CASE("bench pipeline loads fp32 on the CPU to compare with where no column needs it") {
  Devices devices;
  PipelineReport report = benched(devices.cpu({}), devices.gpu({"fp16"}));
  CHECK(devices.loaded == "cuda:0/fp16 cpu/fp32 ");
  report.gpu = "cuda:0, Test GPU";
  report.missing_cpu = "a CPU has no fp16";
  const nlohmann::json all = json_of(report);
  CHECK(all["cpu"]["missing"] == "a CPU has no fp16");
  CHECK(all["against_fp32"].size() == 1);
  CHECK(!row_of(all, "cuda:0", "fp16", "frame").contains("cpu_over_gpu"));
  CHECK(line_of(text_of(report), "no CPU column: a CPU has no fp16") != "");
}

TEST_CASE("bench pipeline says why it has no GPU column, and compares nothing with itself") {
  Devices devices;
  PipelineReport report = benched(devices.cpu({"fp32"}), std::nullopt);
  report.missing_gpu = "there is no driver";
  CHECK(devices.loaded == "cpu/fp32 ");
  CHECK(json_of(report)["gpu"]["missing"] == "there is no driver");
  CHECK(json_of(report)["against_fp32"].empty());
  const std::string text = text_of(report);
  CHECK(line_of(text, "no GPU column: there is no driver") != "");
  CHECK_THAT(text, !Catch::Contains("cpu/gpu") && !Catch::Contains("PSNR"));
}
