// `navtalk bench faces`, with the body of the module by itself.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "cmd/bench/faces.h"
#include "cmd/modules/build_id.h"
#include "cmd/render_module/bodies.h"
#include "core/base/error.h"
#include "tests/cmd/bench/printed.h"
#include "tests/gpu/model/bisenet_file.h"
#include "tests/gpu/model/face_files.h"
#include "tests/temporary_directory.h"

using namespace navtalk;

// The program's, which no module is compared with here.
const char* cmd::build_id() { return ""; }

namespace {

cmd::BenchFacesOptions quick(const std::filesystem::path& models) {
  return {.models = models, .device = "cpu", .precisions = {"fp32"}, .size = "64x48", .seconds = 0};
}

std::string report(const cmd::BenchFacesOptions& options, bool json = true) {
  return tests::printed(json,
                        [&](cmd::Context& context) { return cmd::bench_faces(options, context); });
}

}  // namespace

TEST_CASE("bench faces times the networks that the folder has") {
  const tests::TemporaryDirectory models;
  tests::write_bisenet(models.path());
  const auto names = [&] {
    std::vector<std::string> all;
    const auto report_of = nlohmann::json::parse(report(quick(models.path())));
    for (const auto& row : report_of["rows"]) {
      CHECK(row["precision"] == "fp32");
      CHECK(row["median"].get<double>() > 0);
      all.push_back(row["name"]);
    }
    return all;
  };
  CHECK(names() == std::vector<std::string>{"face parsing"});
  tests::write_dwpose(models.path());
  tests::write_s3fd(models.path());
  CHECK(names() == std::vector<std::string>{"detector 64x48", "landmarks", "face parsing"});
  CHECK_THAT(report(quick(models.path()), false), Catch::Contains("landmarks"));
}

TEST_CASE("bench faces names a folder without networks, and a size that is none") {
  const tests::TemporaryDirectory models;
  CHECK_THROWS_WITH(report(quick(models.path())), Catch::Contains(models.path().string()));
  for (const char* size : {"", "64", "64x", "64x48x3", "31x64", "64x8193", "-64x64"}) {
    CAPTURE(size);
    cmd::BenchFacesOptions options = quick(models.path());
    options.size = size;
    CHECK_THROWS_WITH(report(options), Catch::Contains("WIDTHxHEIGHT"));
  }
}

TEST_CASE("bench faces refuses a number format that the CPU lacks") {
  const tests::TemporaryDirectory models;
  tests::write_s3fd(models.path());
  cmd::BenchFacesOptions options = quick(models.path());
  options.precisions = {"fp16"};
  CHECK_THROWS_WITH(report(options), Catch::Contains("fp16 runs on GPUs only"));
}
