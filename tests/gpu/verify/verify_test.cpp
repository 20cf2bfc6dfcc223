#include "gpu/verify/verify.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>

#include "core/base/error.h"
#include "core/checkpoint/checkpoint.h"
#include "core/checkpoint/safetensors_writer.h"
#include "gpu/device/device.h"
#include "gpu/model/face_detector.h"
#include "gpu/model/face_landmarks.h"
#include "gpu/model/face_parser.h"
#include "tests/gpu/model/bisenet_file.h"
#include "tests/gpu/model/face_files.h"
#include "tests/temporary_directory.h"

using navtalk::GroupResult;
using navtalk::Precision;
using navtalk::verify;
using navtalk::tests::TemporaryDirectory;

namespace {

const std::filesystem::path k_goldens = NAVTALK_TEST_GOLDENS;

navtalk::Model::Options model(const std::filesystem::path& folder,
                              Precision precision = Precision::fp32) {
  return {.models = folder, .precision = precision, .threads = 2};
}

// The tensors that are out of tolerance, and those that were skipped.
std::vector<std::string> failing(const std::vector<GroupResult>& results) {
  std::vector<std::string> names;
  for (const GroupResult& result : results)
    if (result.compared && !result.passed) names.push_back(result.tensor);
  return names;
}
std::vector<std::string> skipped(const std::vector<GroupResult>& results) {
  std::vector<std::string> names;
  for (const GroupResult& result : results)
    if (!result.compared) names.push_back(result.group);
  return names;
}

// Copies a safetensors file and adds 0.01 to the first value of some of its f32 tensors.
void copy_changed(const std::filesystem::path& from, const std::filesystem::path& to,
                  const std::vector<std::string>& tensors) {
  const auto source = navtalk::Checkpoint::open(from);
  std::vector<std::vector<std::byte>> data;
  navtalk::SafetensorsWriter writer;
  for (const auto& [key, value] : source.metadata()) writer.add_metadata(key, value);
  for (const navtalk::TensorInfo& info : source.tensors()) {
    auto& bytes =
        data.emplace_back(navtalk::element_count(info.shape) * navtalk::item_size(info.dtype));
    source.read(info.name, bytes);
    if (std::ranges::count(tensors, info.name) > 0)
      *reinterpret_cast<float*>(bytes.data()) += 0.01F;
    writer.add(info.name, info.dtype, info.shape, bytes);
  }
  writer.write(to);
}

}  // namespace

TEST_CASE("every committed golden file is within tolerance in fp32 and bf16") {
  struct Row {
    std::string name;
    std::size_t results;
    std::vector<std::string> skipped;
  };
  const auto row = GENERATE(
      Row{"wide", 7, {"compose", "pipeline", "bisenet", "dwpose", "s3fd"}},
      Row{"deep",
          3,
          {"mel", "whisper", "windows", "decode", "pipeline", "bisenet", "dwpose", "s3fd"}},
      Row{"odd", 4, {"mel", "whisper", "encode", "decode", "bisenet", "dwpose", "s3fd"}});
  const auto precision = GENERATE(Precision::fp32, Precision::bf16);
  if (precision == Precision::bf16 &&
      (navtalk::widest_isa() == "avx2" || navtalk::widest_isa() == "sse2"))
    return;
  CAPTURE(row.name, navtalk::name(precision));
  const auto results =
      verify(model(k_goldens / row.name, precision), k_goldens / (row.name + ".safetensors"));
  CHECK(results.size() == row.results + row.skipped.size());
  CHECK(failing(results).empty());
  CHECK(skipped(results) == row.skipped);
  for (const GroupResult& result : results) {
    CHECK(result.compared == result.reason.empty());
    // Narrow UNets and encoders are finer than what was asked for.
    if (result.tensor == "unet.output") CHECK(result.computed_in == Precision::fp32);
    if (result.tensor == "whisper.states") CHECK(result.computed_in == precision);
  }
}

TEST_CASE("one changed value in an expected tensor puts it out of tolerance, and no other") {
  const TemporaryDirectory directory;
  const auto golden = directory / "golden.safetensors";
  const std::vector<std::string> changed{"windows.context", "encode.latents", "unet.output",
                                         "decode.raw"};
  copy_changed(k_goldens / "wide.safetensors", golden, changed);
  CHECK(failing(verify(model(k_goldens / "wide"), golden)) == changed);
}

TEST_CASE("a changed mel feature is noticed where it is expected and where it is used") {
  const TemporaryDirectory directory;
  const auto golden = directory / "golden.safetensors";
  copy_changed(k_goldens / "wide.safetensors", golden, {"mel.features"});
  CHECK(failing(verify(model(k_goldens / "wide"), golden)) ==
        std::vector<std::string>{"mel.features", "whisper.states"});
}

TEST_CASE("one changed weight puts the stages that use it out of tolerance") {
  const TemporaryDirectory directory;
  const auto folder = directory / "models";
  std::filesystem::copy(k_goldens / "wide", folder, std::filesystem::copy_options::recursive);
  const auto file = folder / "musetalkV15" / "unet.safetensors";
  {
    // The last bytes of the file belong to a weight; half precision, so a flipped sign is 0x80.
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(-1, std::ios::end);
    const char byte = static_cast<char>(stream.get() ^ 0x80);
    stream.seekp(-1, std::ios::end);
    stream.put(byte);
  }
  CHECK(failing(verify(model(folder), k_goldens / "wide.safetensors")) ==
        std::vector<std::string>{"unet.output"});
}

TEST_CASE("weights of another model are out of tolerance or do not fit") {
  CHECK_THROWS_AS(verify(model(k_goldens / "odd"), k_goldens / "wide.safetensors"), navtalk::Error);
}

TEST_CASE("a missing model folder is an error even when only pictures are compared") {
  CHECK_THROWS_AS(verify(model(k_goldens / "absent"), k_goldens / "deep.safetensors"),
                  navtalk::Error);
}

TEST_CASE("face parsing is compared also where the folder has nothing else") {
  const TemporaryDirectory directory;
  const auto models = directory / "models";
  const navtalk::FaceParser parser(navtalk::tests::write_bisenet(models), {.threads = 2});
  navtalk::Image crop(40, 40);
  for (std::size_t i = 0; i < crop.pixels.size(); ++i)
    crop.pixels[i] = static_cast<std::uint8_t>(i * i % 251);
  navtalk::NdArray<float> scores = parser.scores(crop.view());
  const navtalk::Image parts = navtalk::best_parts(scores);
  const auto write = [&](const std::filesystem::path& file) {
    navtalk::SafetensorsWriter writer;
    writer.add_metadata("format", "navtalk-golden-1");
    writer.add("bisenet.image", navtalk::DType::u8, {40, 40, 3},
               std::as_bytes(std::span(crop.pixels)));
    writer.add("bisenet.logits", navtalk::DType::f32, {19, 512, 512},
               std::as_bytes(std::span(scores.values)));
    writer.add("bisenet.labels", navtalk::DType::u8, {512, 512},
               std::as_bytes(std::span(parts.pixels)));
    writer.write(file);
  };
  write(directory / "equal.safetensors");
  CHECK(failing(verify(model(models), directory / "equal.safetensors")).empty());
  for (std::size_t i = 0; i < 1000; ++i) scores.values[i] += 100;
  write(directory / "changed.safetensors");
  CHECK(failing(verify(model(models), directory / "changed.safetensors")) ==
        std::vector<std::string>{"bisenet.logits", "bisenet.labels"});
}

TEST_CASE("landmarks are compared by scores and by place, also where the folder has nothing else") {
  const TemporaryDirectory directory;
  const auto models = directory / "models";
  const navtalk::FaceLandmarks landmarks(navtalk::tests::write_dwpose(models), {.threads = 2});
  navtalk::Image picture(60, 40);
  for (std::size_t i = 0; i < picture.pixels.size(); ++i)
    picture.pixels[i] = static_cast<std::uint8_t>(i * i % 251);
  navtalk::PoseBins bins = landmarks.bins(picture.view());
  std::vector<float> points;
  for (const navtalk::PosePoint& point : landmarks.points(picture.view())) {
    points.push_back(static_cast<float>(point.x));
    points.push_back(static_cast<float>(point.y));
  }
  const auto failing_in = [&](const char* name) {
    navtalk::SafetensorsWriter writer;
    writer.add_metadata("format", "navtalk-golden-1");
    writer.add("dwpose.image", navtalk::DType::u8, {40, 60, 3},
               std::as_bytes(std::span(picture.pixels)));
    writer.add("dwpose.x", navtalk::DType::f32, {133, 576},
               std::as_bytes(std::span(bins.x.values)));
    writer.add("dwpose.y", navtalk::DType::f32, {133, 768},
               std::as_bytes(std::span(bins.y.values)));
    writer.add("dwpose.points", navtalk::DType::f32, {133, 2}, std::as_bytes(std::span(points)));
    writer.write(directory / name);
    return failing(verify(model(models), directory / name));
  };
  CHECK(failing_in("equal.safetensors").empty());
  points[7] += 0.2F;
  CHECK(failing_in("moved.safetensors") == std::vector<std::string>{"dwpose.points"});
  points[7] -= 0.2F;
  bins.x.values[3] += 1;
  bins.y.values[3] += 1;
  CHECK(failing_in("changed.safetensors") == std::vector<std::string>{"dwpose.x", "dwpose.y"});
}

TEST_CASE("a detected face is compared by scores and box, also where the folder has nothing else") {
  const TemporaryDirectory directory;
  const auto models = directory / "models";
  const navtalk::FaceDetector detector(navtalk::tests::write_s3fd(models), {.threads = 2});
  navtalk::Image picture(90, 70);
  for (std::size_t i = 0; i < picture.pixels.size(); ++i)
    picture.pixels[i] = static_cast<std::uint8_t>(i * i % 251);
  const navtalk::FaceScores scores = detector.scores(picture.view());
  const std::optional<navtalk::Box> face = detector.face(picture.view());
  REQUIRE(face);
  std::vector<std::int64_t> box{face->x1, face->y1, face->x2, face->y2};
  std::vector<float> offsets = scores.offsets.values;
  const auto failing_in = [&](const char* name) {
    navtalk::SafetensorsWriter writer;
    writer.add_metadata("format", "navtalk-golden-1");
    writer.add("s3fd.image", navtalk::DType::u8, {70, 90, 3},
               std::as_bytes(std::span(picture.pixels)));
    writer.add("s3fd.scores", navtalk::DType::f32, scores.scores.shape,
               std::as_bytes(std::span(scores.scores.values)));
    writer.add("s3fd.offsets", navtalk::DType::f32, scores.offsets.shape,
               std::as_bytes(std::span(offsets)));
    writer.add("s3fd.box", navtalk::DType::i64, {std::ssize(box) / 4, 4},
               std::as_bytes(std::span(box)));
    writer.write(directory / name);
    return failing(verify(model(models), directory / name));
  };
  CHECK(failing_in("equal.safetensors").empty());
  box[2] += 1;
  CHECK(failing_in("moved.safetensors") == std::vector<std::string>{"s3fd.box"});
  box.clear();
  CHECK(failing_in("none.safetensors") == std::vector<std::string>{"s3fd.box"});
  offsets[5] += 10;
  CHECK(failing_in("changed.safetensors") == std::vector<std::string>{"s3fd.offsets", "s3fd.box"});
}
