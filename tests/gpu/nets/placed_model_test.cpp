// The nets as a GPU computes them, libtorch's operators in fp16 and fp32 on unpacked weights, on the CPU: compared with the CPU's own.
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "core/base/error.h"
#include "gpu/model/model.h"
#include "tests/gpu/nets/random_model.h"
#include "tests/gpu/nets/replaying_recorder.h"
#include "tests/temporary_directory.h"

namespace navtalk {
namespace {

NdArray<float> normal_values(const Shape& shape, unsigned seed) {
  std::mt19937 bits(seed);
  std::normal_distribution<float> normal;
  NdArray<float> array(shape);
  for (float& value : array.values) value = normal(bits);
  return array;
}

Model loaded(const std::filesystem::path& folder, bool as_on_gpu, Precision precision) {
  return Model::load({.models = folder,
                      .device = {},
                      .precision = precision,
                      .threads = 2,
                      .as_on_gpu = as_on_gpu});
}

template <class T>
double psnr_db(const NdArray<T>& a, const NdArray<T>& b, double range) {
  REQUIRE(a.shape == b.shape);
  double sum = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    const double difference = static_cast<double>(a.values[i]) - static_cast<double>(b.values[i]);
    sum += difference * difference;
  }
  return 10 * std::log10(range * range * static_cast<double>(a.values.size()) / sum);
}

// Of the largest of `wanted`, how far `found` is off.
double furthest_share(const NdArray<float>& found, const NdArray<float>& wanted) {
  REQUIRE(found.shape == wanted.shape);
  double most = 0, largest = 0;
  for (std::size_t i = 0; i < wanted.values.size(); ++i) {
    most = std::max(most, std::abs(double{found.values[i]} - double{wanted.values[i]}));
    largest = std::max(largest, std::abs(double{wanted.values[i]}));
  }
  return most / largest;
}

}  // namespace

TEST_CASE("faces in fp16 as a GPU makes them are within 50 dB of the CPU's in fp32") {
  const tests::TemporaryDirectory directory;
  tests::write_random_model(directory.path());
  const NdArray<float> latent = normal_values({3, 8, 32, 32}, 21);
  const NdArray<float> windows = normal_values({3, 30, 32}, 22);
  const auto wanted = loaded(directory.path(), false, Precision::fp32).faces(latent, windows);
  Model placed = loaded(directory.path(), true, Precision::fp16);
  CHECK(placed.info().execution.batch == 8);
  const auto found = placed.faces(latent, windows);
  const double db = psnr_db(found, wanted, 255);
  INFO(db << " dB");
  CHECK(db >= 50);
  CHECK(placed.faces(latent, windows) == found);
}

TEST_CASE("every net in fp32 as a GPU computes it agrees with the CPU's own kernels") {
  const tests::TemporaryDirectory directory;
  tests::write_random_model(directory.path());
  Model own = loaded(directory.path(), false, Precision::fp32);
  Model placed = loaded(directory.path(), true, Precision::fp32);
  const NdArray<float> latent = normal_values({2, 8, 32, 32}, 23);
  const NdArray<float> context = normal_values({2, 30, 32}, 24);
  CHECK(furthest_share(placed.unet(latent, context), own.unet(latent, context)) < 1e-4);
  const NdArray<float> talking = normal_values({3, 4, 32, 32}, 25);
  CHECK(furthest_share(placed.decode_raw(talking), own.decode_raw(talking)) < 1e-4);
  const NdArray<float> mel = normal_values({1, 80, 400}, 26);
  CHECK(furthest_share(placed.whisper_states(mel), own.whisper_states(mel)) < 1e-4);
  std::vector<std::uint8_t> pixels(256 * 256 * 3);
  for (std::size_t i = 0; i < pixels.size(); ++i)
    pixels[i] = static_cast<std::uint8_t>(i * 7 % 251);
  const std::vector<ConstImageView> crop{{pixels.data(), 256, 256, 3, 256 * 3}};
  CHECK(furthest_share(placed.encode(crop), own.encode(crop)) < 1e-4);
  CHECK(psnr_db(placed.decode_faces(talking), own.decode_faces(talking), 255) > 60);
}

TEST_CASE("faces are the same bytes with graphs and without") {
  const tests::TemporaryDirectory directory;
  tests::write_random_model(directory.path());
  const auto recorder = std::make_shared<tests::ReplayingRecorder>();
  const auto recording = [&](bool graphs) {
    return Model::load({.models = directory.path(),
                        .device = {},
                        .precision = Precision::fp32,
                        .threads = 2,
                        .as_on_gpu = true,
                        .graphs = graphs,
                        .recorder = recorder,
                        .whisper = false,
                        .vae_encoder = false});
  };
  const NdArray<float> latent = normal_values({1, 8, 32, 32}, 31);
  const NdArray<float> windows = normal_values({1, 30, 32}, 32);
  Model eager = recording(false), graphed = recording(true);
  const auto wanted = eager.faces(latent, windows);
  CHECK(recorder->recorded == 0);
  for (int i = 0; i < 2; ++i) CHECK(graphed.faces(latent, windows) == wanted);
  // The UNet's and those of the decoder's two parts, the second time.
  CHECK(recorder->recorded == 3);
  CHECK(recorder->replayed == 3);
}

TEST_CASE("int8 weights take less memory, and their faces are within 35 dB of fp32") {
  const tests::TemporaryDirectory directory;
  tests::RandomModel wide;
  wide.unet.block_out_channels = {32, 64};
  wide.vae.block_out_channels = {16, 16, 16, 64};
  tests::write_random_model(directory.path(), wide);
  const auto load = [&](WeightFormat weights, bool as_on_gpu) {
    return Model::load({.models = directory.path(),
                        .device = {},
                        .precision = Precision::fp32,
                        .weights = weights,
                        .threads = 1,
                        .as_on_gpu = as_on_gpu,
                        .whisper = false,
                        .vae_encoder = false});
  };
  const NdArray<float> latent = normal_values({1, 8, 32, 32}, 51);
  const NdArray<float> windows = normal_values({1, 30, 32}, 52);
  Model own = load(WeightFormat::computed, false), exact = load(WeightFormat::computed, true),
        int8 = load(WeightFormat::int8, true);
  CHECK(own.info().weight_bytes == 0);
  CHECK(int8.info().weight_bytes < exact.info().weight_bytes * 3 / 4);  // small ones stay
  const double db = psnr_db(int8.faces(latent, windows), own.faces(latent, windows), 255);
  INFO(db << " dB");
  CHECK(db >= 35);
  CHECK(db < 60);  // they are in 8 bits
  CHECK_THROWS_WITH(load(WeightFormat::int8, false), Catch::Contains("int8 weights are for GPUs"));
}

TEST_CASE("a model that was paused makes the same faces after a wake, and records graphs anew") {
  const tests::TemporaryDirectory directory;
  tests::write_random_model(directory.path());
  const auto recorder = std::make_shared<tests::ReplayingRecorder>();
  Model model = Model::load({.models = directory.path(),
                             .device = {},
                             .precision = Precision::fp32,
                             .threads = 1,
                             .as_on_gpu = true,
                             .recorder = recorder,
                             .whisper = false,
                             .vae_encoder = false});
  const NdArray<float> latent = normal_values({1, 8, 32, 32}, 61);
  const NdArray<float> windows = normal_values({1, 30, 32}, 62);
  const auto faces = model.faces(latent, windows);
  const auto talking = model.unet(latent, windows);
  CHECK(recorder->recorded == 1);
  model.pause();
  model.wake();
  CHECK(model.faces(latent, windows) == faces);
  CHECK(recorder->recorded == 1);
  CHECK(model.unet(latent, windows) == talking);
  CHECK(recorder->recorded == 2);
}

TEST_CASE("the decoder runs on a device of its own, in that device's number format") {
  const tests::TemporaryDirectory directory;
  tests::write_random_model(directory.path());
  const auto load = [&](bool as_on_gpu, std::optional<Device> decoder,
                        std::optional<Precision> precision) {
    return Model::load({.models = directory.path(),
                        .device = {},
                        .decoder_device = decoder,
                        .precision = precision,
                        .threads = 2,
                        .as_on_gpu = as_on_gpu,
                        .whisper = false,
                        .vae_encoder = false});
  };
  constexpr Device k_cpu{};
  const NdArray<float> latent = normal_values({1, 8, 32, 32}, 41);
  const NdArray<float> windows = normal_values({1, 30, 32}, 42);
  const NdArray<float> talking = normal_values({1, 4, 32, 32}, 43);
  Model own = load(false, std::nullopt, Precision::fp32);
  Model placed = load(true, std::nullopt, Precision::fp32);
  Model apart = load(true, k_cpu, Precision::fp32);
  CHECK(apart.unet(latent, windows) == placed.unet(latent, windows));
  CHECK(apart.decode_faces(talking) == own.decode_faces(talking));
  CHECK(psnr_db(apart.faces(latent, windows), own.faces(latent, windows), 255) > 60);
  // Pictures are finished where the decoder is.
  CHECK(placed.info().pictures_on_device);
  CHECK_FALSE(apart.info().pictures_on_device);
  // fp16 is a GPU's alone.
  const ModelInfo info = load(true, k_cpu, Precision::fp16).info();
  CHECK(info.execution.unet == Precision::fp16);
  const ModelInfo chosen = load(false, std::nullopt, std::nullopt).info();
  CHECK(info.execution.decoder == chosen.execution.decoder);
  CHECK_FALSE(info.execution.same_in_batches);
  CHECK(load(false, k_cpu, Precision::fp32).info().execution.same_in_batches ==
        own.info().execution.same_in_batches);
  CHECK_THROWS_WITH(load(false, Device{.kind = Device::Kind::cuda, .index = 7}, std::nullopt),
                    Catch::Contains("cuda:7"));
}

TEST_CASE("a GPU has fp16 unless fp32 is asked for, and no bf16") {
  const tests::TemporaryDirectory directory;
  tests::write_random_model(directory.path());
  const Model model =
      Model::load({.models = directory.path(), .device = {}, .threads = 1, .as_on_gpu = true});
  CHECK(model.info().execution.unet == Precision::fp16);
  CHECK(model.info().execution.decoder == Precision::fp16);
  CHECK_THROWS_WITH(loaded(directory.path(), true, Precision::bf16),
                    Catch::Contains("bf16 runs on CPUs only"));
}

}  // namespace navtalk
