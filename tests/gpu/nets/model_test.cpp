// The model behind its interface, on a folder of random weights: strictness, determinism, batches.
#include "gpu/model/model.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "core/base/error.h"
#include "gpu/features/windows.h"
#include "tests/gpu/nets/random_model.h"
#include "tests/temporary_directory.h"

namespace navtalk {
namespace {

NdArray<float> random_array(const Shape& shape, unsigned seed) {
  std::mt19937 bits(seed);
  std::normal_distribution<float> normal;
  NdArray<float> array(shape);
  for (float& value : array.values) value = normal(bits);
  return array;
}

// Images i of the first axis.
template <class T>
NdArray<T> only(const NdArray<T>& all, std::int64_t i) {
  Shape shape = all.shape;
  shape[0] = 1;
  return {shape, std::vector<T>(all.row(i), all.row(i) + all.stride0())};
}

int largest_difference(const NdArray<std::uint8_t>& a, const std::uint8_t* b) {
  int largest = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i)
    largest = std::max(largest, std::abs(int{a.values[i]} - int{b[i]}));
  return largest;
}

std::string load_error(const std::filesystem::path& models) {
  try {
    Model::load({.models = models, .device = {}, .precision = Precision::fp32, .threads = 1});
  } catch (const Error& error) {
    CHECK(error.code() == Code::invalid);
    return error.message();
  }
  return "no error";
}

bool can_bf16() { return widest_isa().starts_with("avx512") || widest_isa().starts_with("amx"); }

}  // namespace

TEST_CASE("a checkpoint that does not fit is refused by the tensor's name") {
  const tests::TemporaryDirectory directory;
  tests::RandomModel model;
  SECTION("missing") {
    model.edit = [](Net net, std::vector<TensorInfo>& tensors) {
      if (net == Net::unet)
        std::erase_if(tensors, [](const TensorInfo& t) { return t.name == "conv_in.weight"; });
    };
    tests::write_random_model(directory.path(), model);
    CHECK_THAT(load_error(directory.path()), Catch::Contains("missing conv_in.weight"));
  }
  SECTION("surplus") {
    model.edit = [](Net net, std::vector<TensorInfo>& tensors) {
      if (net == Net::vae) tensors.push_back({"decoder.extra", DType::f32, {2}});
    };
    tests::write_random_model(directory.path(), model);
    CHECK_THAT(load_error(directory.path()), Catch::Contains("surplus decoder.extra"));
  }
  SECTION("mis-shaped") {
    model.edit = [](Net net, std::vector<TensorInfo>& tensors) {
      for (TensorInfo& t : tensors)
        if (net == Net::whisper && t.name.ends_with("layers.1.fc1.weight")) t.shape[0] += 1;
    };
    tests::write_random_model(directory.path(), model);
    const std::string message = load_error(directory.path());
    CHECK_THAT(message, Catch::Contains("mis-shaped") && Catch::Contains("layers.1.fc1.weight"));
  }
}

TEST_CASE("what this machine cannot do is refused with the remedy") {
  const tests::TemporaryDirectory directory;
  tests::write_random_model(directory.path());
  const auto load = [&](Device device, Precision precision) {
    Model::load({.models = directory.path(), .device = device, .precision = precision});
  };
  CHECK_THROWS_WITH(load({}, Precision::fp16), Catch::Contains("a CPU computes in fp32"));
  // No machine has this many GPUs, whatever the build.
  CHECK_THROWS_WITH(
      load({.kind = Device::Kind::cuda, .index = 63}, Precision::fp32),
      Catch::Contains("device 'cuda:63'") && Catch::Contains("use --device cpu or auto"));
}

TEST_CASE("narrow UNets and encoders compute in fp32, from a width on that is smaller for auto") {
  if (!can_bf16()) {
    WARN("skipped: bf16 needs AVX-512");
    return;
  }
  struct Row {
    std::optional<Precision> asked;
    std::vector<int> unet, vae;
    Precision unet_precision, encoder_precision;
  };
  using enum Precision;
  const auto row = GENERATE(Row{bf16, {32, 64}, {64, 64, 64, 64}, fp32, bf16},
                            Row{bf16, {64, 64}, {64, 32, 64, 64}, bf16, fp32},
                            Row{std::nullopt, {16, 32}, {32, 32, 32, 32}, fp32, bf16},
                            Row{std::nullopt, {32, 64}, {32, 16, 32, 32}, bf16, fp32});
  if (!row.asked && widest_isa() != "avx512_bf16" && widest_isa() != "amx_bf16") return;
  const tests::TemporaryDirectory directory;
  tests::RandomModel random;
  random.unet.block_out_channels = row.unet;
  random.vae.block_out_channels = row.vae;
  tests::write_random_model(directory.path(), random);
  const ModelInfo info =
      Model::load({.models = directory.path(), .device = {}, .precision = row.asked, .threads = 1})
          .info();
  CHECK(info.execution.unet == row.unet_precision);
  CHECK(info.execution.encoder == row.encoder_precision);
  CHECK(info.execution.whisper == bf16);
  CHECK(info.execution.decoder == bf16);
}

TEST_CASE("inputs of the wrong shape are refused with both shapes") {
  const tests::TemporaryDirectory directory;
  tests::write_random_model(directory.path());
  Model model = Model::load({.models = directory.path(), .device = {}, .threads = 1});
  CHECK(model.info().context_rows == 30);
  CHECK(model.info().context_width == 32);
  CHECK_THROWS_WITH(model.unet(random_array({1, 4, 32, 32}, 1), random_array({1, 30, 32}, 2)),
                    Catch::Contains("[1,4,32,32]") && Catch::Contains("[-1,8,32,32]"));
  CHECK_THROWS_WITH(model.unet(random_array({2, 8, 32, 32}, 1), random_array({1, 30, 32}, 2)),
                    Catch::Contains("the context has shape [1,30,32]"));
  CHECK_THROWS_WITH(model.decode_faces(random_array({1, 3, 32, 32}, 1)),
                    Catch::Contains("[-1,4,32,32]"));
  CHECK_THROWS_WITH(model.whisper_states(random_array({1, 81, 300}, 1)),
                    Catch::Contains("[1,81,300]") && Catch::Contains("[-1,80,-1]"));
  for (const std::int64_t frames : {301, 3002})
    CHECK_THROWS_WITH(model.whisper_states(random_array({1, 80, frames}, 1)),
                      Catch::Contains(std::to_string(frames) + " frames") &&
                          Catch::Contains("even number up to 3000"));
  const std::vector<std::uint8_t> pixels(128 * 128 * 3);
  const std::vector<ConstImageView> small{{pixels.data(), 128, 128, 3, 128 * 3}};
  CHECK_THROWS_WITH(model.encode(small), Catch::Contains("128x128"));
}

TEST_CASE("the same input gives the same bytes, and a batch the frames that batch 1 gives") {
  const tests::TemporaryDirectory directory;
  tests::write_random_model(directory.path());
  const auto precision = GENERATE(Precision::fp32, Precision::bf16);
  if (precision == Precision::bf16 && !can_bf16()) {
    WARN("skipped: bf16 needs AVX-512");
    return;
  }
  const Model::Options options{
      .models = directory.path(), .device = {}, .precision = precision, .threads = 1};
  Model model = Model::load(options);
  const NdArray<float> latent = random_array({2, 8, 32, 32}, 1);
  const NdArray<float> windows = random_array({2, 30, 32}, 2);
  const NdArray<std::uint8_t> faces = model.faces(latent, windows);
  REQUIRE(faces.shape == Shape{2, 256, 256, 3});
  CHECK(model.faces(latent, windows) == faces);
  CHECK(Model::load(options).faces(latent, windows) == faces);
  for (std::int64_t i = 0; i < 2; ++i)
    CHECK(largest_difference(model.faces(only(latent, i), only(windows, i)), faces.row(i)) <=
          (model.info().execution.same_in_batches ? 0 : 1));
}

TEST_CASE("faces is the UNet on positioned windows, then the decoder, then bytes") {
  const tests::TemporaryDirectory directory;
  tests::write_random_model(directory.path());
  Model model = Model::load(
      {.models = directory.path(), .device = {}, .precision = Precision::fp32, .threads = 1});
  const NdArray<float> latent = random_array({1, 8, 32, 32}, 3);
  NdArray<float> windows = random_array({1, 30, 32}, 4);
  const NdArray<std::uint8_t> faces = model.faces(latent, windows);
  add_positions(windows);
  const NdArray<float> talking = model.unet(latent, windows);
  CHECK(model.decode_faces(talking) == faces);
  const NdArray<float> raw = model.decode_raw(talking);
  const auto level = [&](std::size_t plane) {
    return std::lrintf(std::clamp(raw.values[plane] / 2.0F + 0.5F, 0.0F, 1.0F) * 255.0F);
  };
  constexpr std::size_t k_plane = 256 * 256;
  CHECK(faces.values[0] == level(2 * k_plane));  // blue first
  CHECK(faces.values[2] == level(0));
}

TEST_CASE(
    "latents decoded as one batch give what they give alone, but for the library's rounding") {
  const tests::TemporaryDirectory directory;
  tests::write_random_model(directory.path());
  const auto decoded = [&](bool as_batch, const NdArray<float>& latent) {
    return Model::load({.models = directory.path(),
                        .device = {},
                        .precision = Precision::fp32,
                        .threads = 1,
                        .decode_as_batch = as_batch,
                        .whisper = false,
                        .unet = false,
                        .vae_encoder = false})
        .decode_raw(latent);
  };
  const NdArray<float> latent = random_array({2, 4, 32, 32}, 8);
  const NdArray<float> own = decoded(false, latent), batch = decoded(true, latent);
  REQUIRE(batch.shape == own.shape);
  CHECK(batch.values != own.values);
  float most = 0;
  for (std::size_t i = 0; i < own.values.size(); ++i)
    most = std::max(most, std::abs(own.values[i] - batch.values[i]));
  CHECK(most < 1e-2F);
}

TEST_CASE("the number of threads does not change a face by more than one level") {
  const tests::TemporaryDirectory directory;
  tests::write_random_model(directory.path());
  const NdArray<float> latent = random_array({1, 8, 32, 32}, 5);
  const NdArray<float> windows = random_array({1, 30, 32}, 6);
  const auto faces = [&](int threads) {
    return Model::load({.models = directory.path(),
                        .device = {},
                        .precision = Precision::fp32,
                        .threads = threads})
        .faces(latent, windows);
  };
  CHECK(largest_difference(faces(1), faces(2).values.data()) <= 1);
}

TEST_CASE("frames rendered in parallel have the same pixels on one thread and on two") {
  const tests::TemporaryDirectory directory;
  tests::write_random_model(directory.path());
  const auto precision = GENERATE(std::optional<Precision>(), std::optional(Precision::fp32));
  const NdArray<float> latent = random_array({6, 8, 32, 32}, 9);
  const NdArray<float> windows = random_array({6, 30, 32}, 10);
  const auto faces = [&](int threads) {
    Model model = Model::load(
        {.models = directory.path(), .device = {}, .precision = precision, .threads = threads});
    CHECK(model.info().execution.parallel_frames);
    return model.faces(latent, windows);
  };
  CHECK(faces(1) == faces(2));
}

TEST_CASE("the states of a few tokens are what they are among all of them") {
  const tests::TemporaryDirectory directory;
  tests::write_random_model(directory.path());
  const std::int64_t first = GENERATE(0, 1477), count = 23;
  Model model = Model::load(
      {.models = directory.path(), .device = {}, .precision = Precision::fp32, .threads = 1});
  const NdArray<float> mel = random_array({2, 80, 3000}, 11);
  const NdArray<float> all = model.whisper_states(mel),
                       few = model.whisper_states(mel, first, count);
  REQUIRE(few.shape == Shape{2, count, all.dim(2), all.dim(3)});
  const std::size_t token = all.stride0() / 1500;
  float most = 0;
  for (std::int64_t s = 0; s < 2; ++s)
    for (std::size_t i = 0; i < few.stride0(); ++i)
      most = std::max(
          most, std::abs(few.row(s)[i] - all.row(s)[static_cast<std::size_t>(first) * token + i]));
  CHECK(most < 1e-5F);
}

TEST_CASE("encoding masks the lower half first, and only the masked latent forgets it") {
  const tests::TemporaryDirectory directory;
  tests::write_random_model(directory.path());
  Model model = Model::load(
      {.models = directory.path(), .device = {}, .precision = Precision::fp32, .threads = 1});
  std::mt19937 bits(7);
  std::vector<std::uint8_t> first(256 * 256 * 3);
  for (std::uint8_t& value : first) value = static_cast<std::uint8_t>(bits() & 0xffU);
  std::vector<std::uint8_t> second = first;
  for (std::size_t i = second.size() / 2; i < second.size(); ++i) second[i] = 17;
  const std::vector<ConstImageView> crops{{first.data(), 256, 256, 3, 768},
                                          {second.data(), 256, 256, 3, 768}};
  const NdArray<float> latents = model.encode(crops);
  REQUIRE(latents.shape == Shape{2, 8, 32, 32});
  const std::size_t half = latents.stride0() / 2;
  const auto half_of = [&](std::int64_t i, std::size_t h) {
    return std::vector<float>(latents.row(i) + h * half, latents.row(i) + (h + 1) * half);
  };
  CHECK(half_of(0, 0) == half_of(1, 0));
  CHECK(half_of(0, 1) != half_of(1, 1));
}

}  // namespace navtalk
