#include "gpu/verify/golden_file.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <map>

#include "core/base/error.h"
#include "core/checkpoint/safetensors_writer.h"
#include "gpu/features/mel.h"
#include "gpu/features/windows.h"
#include "gpu/verify/difference.h"
#include "tests/temporary_directory.h"

using navtalk::GoldenFile;
using navtalk::NdArray;
using navtalk::Shape;
using navtalk::tests::TemporaryDirectory;

namespace {

const std::filesystem::path k_goldens = NAVTALK_TEST_GOLDENS;

// A golden file with one group, windows, and the given metadata.
std::filesystem::path write_file(const std::filesystem::path& directory,
                                 const std::map<std::string, std::string>& metadata,
                                 const std::vector<std::string>& tensors = {
                                     "audio.samples", "whisper.states", "windows.context"}) {
  static const std::vector<float> zeros(640);
  navtalk::SafetensorsWriter writer;
  for (const std::string& tensor : tensors)
    writer.add(tensor, navtalk::DType::f32, {640}, std::as_bytes(std::span(zeros)));
  for (const auto& [key, value] : metadata) writer.add_metadata(key, value);
  const std::filesystem::path path = directory / "golden.safetensors";
  writer.write(path);
  return path;
}

std::string failure(const std::filesystem::path& path) {
  try {
    GoldenFile::open(path);
  } catch (const navtalk::Error& error) {
    CHECK(error.code() == navtalk::Code::invalid);
    return error.message();
  }
  return "opened";
}

}  // namespace

TEST_CASE("a golden file names its format and a frame rate") {
  const TemporaryDirectory directory;
  const auto& path = directory.path();
  CHECK(failure(write_file(path, {{"format", "navtalk-golden-1"}, {"fps", "25"}})) == "opened");
  CHECK_THAT(failure(write_file(path, {{"fps", "25"}})), Catch::Contains("not a golden file"));
  CHECK_THAT(failure(write_file(path, {{"format", "navtalk-golden-2"}, {"fps", "25"}})),
             Catch::Contains("navtalk-golden-2"));
  for (const char* fps : {"", "0", "0.9", "-25", "25 ", "fast", "nan", "inf", "1e9"})
    CHECK_THAT(failure(write_file(path, {{"format", "navtalk-golden-1"}, {"fps", fps}})),
               Catch::Contains("frame rate"));
  CHECK_THAT(failure(write_file(path, {{"format", "navtalk-golden-1"}})),
             Catch::Contains("frame rate"));
}

TEST_CASE("a fractional frame rate is truncated as the reference does") {
  const TemporaryDirectory directory;
  const auto open = [&](const char* fps) {
    return GoldenFile::open(
        write_file(directory.path(), {{"format", "navtalk-golden-1"}, {"fps", fps}}));
  };
  CHECK(open("29.97").fps() == 29);
  CHECK(open("25.0").fps() == 25);
  CHECK(open("30").fps() == 30);
}

TEST_CASE("a group is there when all of its tensors are, and a file without any is refused") {
  const TemporaryDirectory directory;
  const std::map<std::string, std::string> metadata{{"format", "navtalk-golden-1"}, {"fps", "25"}};
  const GoldenFile file = GoldenFile::open(
      write_file(directory.path(), metadata,
                 {"audio.samples", "whisper.states", "windows.context", "unet.output", "other"}));
  CHECK(file.holds("windows"));
  CHECK_FALSE(file.holds("whisper"));
  CHECK_FALSE(file.holds("unet"));
  for (const navtalk::GoldenGroup& group : navtalk::golden_groups())
    if (group.name == "unet") CHECK(file.missing(group) == "unet.latent");
  CHECK_THAT(failure(write_file(directory.path(), metadata, {"audio.samples", "unet.output"})),
             Catch::Contains("no whole group"));
}

TEST_CASE("a tensor of another shape is refused by name") {
  const TemporaryDirectory directory;
  const GoldenFile file = GoldenFile::open(
      write_file(directory.path(), {{"format", "navtalk-golden-1"}, {"fps", "25"}}));
  CHECK(file.floats("audio.samples", {-1}).shape == Shape{640});
  CHECK_THROWS_WITH(file.floats("audio.samples", {-1, 2}),
                    Catch::Contains("audio.samples has the shape [640], expected [*,2]"));
  CHECK_THROWS_AS(file.bytes("audio.samples", {-1}), navtalk::Error);
}

TEST_CASE("what is not a safetensors file is refused") {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "golden.safetensors";
  std::ofstream(path) << "not a golden file";
  CHECK_THAT(failure(path), Catch::Contains(path.string()));
  CHECK_THROWS_AS(GoldenFile::open(directory.path() / "absent"), navtalk::Error);
}

TEST_CASE("mel features are those of the Python reference") {
  const GoldenFile file = GoldenFile::open(k_goldens / "wide.safetensors");
  const NdArray<float> expected = file.floats("mel.features", {1, 80, 3000});
  const NdArray<float> mel = navtalk::log_mel(file.floats("audio.samples", {18560}).values);
  REQUIRE(mel.shape == expected.shape);
  CHECK(navtalk::difference(std::span<const float>(mel.values), expected.values).max <= 1e-5);
}

TEST_CASE("context windows are those of the Python reference, bit for bit") {
  for (const char* name : {"wide.safetensors", "odd.safetensors"}) {
    const GoldenFile file = GoldenFile::open(k_goldens / name);
    const NdArray<float> states = file.floats("whisper.states", {-1, 1500, -1, -1});
    const auto samples = file.floats("audio.samples", {-1}).dim(0);
    CHECK(navtalk::context_windows(states, samples, file.fps()) ==
          file.floats("windows.context", {-1, -1, -1}));
  }
}
