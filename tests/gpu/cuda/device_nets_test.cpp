// The model on a device, with its graphs, copies and pictures, against the CPU. Where the emulation runs the kernels, some of the cases
// run on the CPU as if it were a device, so that the cases themselves are known to be right.
#include <ATen/ATen.h>

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <random>
#include <thread>

#include "gpu/model/model.h"
#include "gpu/nets/device_copies.h"
#include "tests/gpu/cuda/device_memory.h"
#include "tests/gpu/cuda/furthest.h"
#include "tests/gpu/image/noise.h"
#include "tests/gpu/image/pasted_by_twins.h"
#include "tests/gpu/nets/random_model.h"
#include "tests/gpu/nets/replaying_recorder.h"
#include "tests/temporary_directory.h"
#ifndef NAVTALK_EMULATE_CUDA
#include "core/base/out_of_memory.h"
#include "gpu/model/device_pool.h"
#endif

using namespace navtalk;

namespace {

#ifdef NAVTALK_EMULATE_CUDA
constexpr bool k_emulated = true;
constexpr Device k_device{};
constexpr std::array<std::int64_t, 2> k_batches{1, 3};
#else
constexpr bool k_emulated = false;
constexpr Device k_device{.kind = Device::Kind::cuda, .index = 0};
constexpr std::array<std::int64_t, 9> k_batches{1, 2, 3, 4, 5, 6, 7, 8, 9};
#endif

NdArray<float> normal_array(const Shape& shape, unsigned seed) {
  std::mt19937 bits(seed);
  std::normal_distribution<float> normal;
  NdArray<float> array(shape);
  for (float& value : array.values) value = normal(bits);
  return array;
}

// A folder of random weights, the same for all cases.
const std::filesystem::path& small_model() {
  static const tests::TemporaryDirectory directory;
  static const bool written = [] {
    tests::RandomModel model;
    if (k_emulated) {
      model.unet.block_out_channels = {8, 16};
      model.unet.norm_num_groups = 4;
      model.vae.block_out_channels = {8, 8, 8, 8};
    }
    tests::write_random_model(directory.path(), model);
    return true;
  }();
  static_cast<void>(written);
  return directory.path();
}

Model model_on_device(const std::filesystem::path& folder, Precision precision,
                      bool graphs = true) {
  Model::Options options{.models = folder,
                         .device = k_device,
                         .precision = precision,
                         .graphs = graphs,
                         .frame_bytes = std::size_t{64} << 20};
  if (k_emulated) {
    options.threads = 2;
    options.as_on_gpu = true;
    options.recorder = std::make_shared<tests::ReplayingRecorder>();
    options.whisper = options.vae_encoder = false;
  }
  return Model::load(options);
}

// What the nets are given for a batch.
struct Batch {
  NdArray<float> latent, windows;
};
Batch batch_of(const Model& model, std::int64_t faces, unsigned seed) {
  const ModelInfo& info = model.info();
  return {normal_array({faces, 8, 32, 32}, seed),
          normal_array({faces, info.context_rows, info.context_width}, seed + 1)};
}
template <class T>
NdArray<T> part(const NdArray<T>& all, std::int64_t begin, std::int64_t count) {
  Shape shape = all.shape;
  shape[0] = count;
  return {shape, std::vector<T>(all.row(begin), all.row(begin + count))};
}
Batch part(const Batch& all, std::int64_t begin, std::int64_t count) {
  return {part(all.latent, begin, count), part(all.windows, begin, count)};
}

template <class T>
double psnr_of(const NdArray<T>& a, const NdArray<T>& b) {
  REQUIRE(a.shape == b.shape);
  double sum = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    const double difference = static_cast<double>(a.values[i]) - static_cast<double>(b.values[i]);
    sum += difference * difference;
  }
  return 10 * std::log10(255.0 * 255.0 * static_cast<double>(a.values.size()) / sum);
}

// A frame of noise with a face in it, whose content `load` gives again each time.
PlacedFrame placed_frame(const std::shared_ptr<const int>& avatar, std::int64_t index, int width,
                         int height, const Box& box) {
  const Box crop{box.x1 - 6, box.y1 - 5, box.x2 + 7, box.y2 + 8};
  const Box region{3, crop.height() / 3, crop.width() - 2, crop.height()};
  return {.avatar = avatar,
          .frame = index,
          .width = width,
          .height = height,
          .placement = {.box = box, .crop_box = crop},
          .mask_region = region,
          .load = [=] {
            const auto seed = static_cast<std::uint64_t>(index) + 1;
            FrameContent content{
                .nv12 = std::vector<std::uint8_t>(yuv420_bytes(width, height)),
                .mask = noise(seed + 100, region.width(), region.height(), 1).pixels,
                .latent = normal_array({1, 8, 32, 32}, static_cast<unsigned>(seed))};
            bgr_to_nv12(noise(seed, width, height).view(), content.nv12.data());
            return content;
          }};
}

// Of two sizes, mixed; boxes with odd edges and beyond the frame's; sharpened, in the frame's colours, half seen, and in other sizes.
std::vector<PlacedFrame> placed_frames(const std::shared_ptr<const int>& avatar) {
  std::vector<PlacedFrame> frames{placed_frame(avatar, 0, 160, 96, {31, 11, 92, 70}),
                                  placed_frame(avatar, 1, 128, 84, {-10, 20, 50, 80}),
                                  placed_frame(avatar, 2, 160, 96, {60, 8, 140, 88})};
  frames.push_back(frames[0]);
  frames.back().finish = {.unsharp = Unsharp{}, .match_colour = true};
  frames.push_back(frames[2]);
  frames.back().lips = 0.6F;
  frames.back().shown_width = 100;
  frames.back().shown_height = 60;
  frames.push_back(frames[1]);
  frames.back().stays = true;
  return frames;
}

NdArray<float> latents_of(const std::vector<PlacedFrame>& frames) {
  NdArray<float> all({static_cast<std::int64_t>(frames.size()), 8, 32, 32});
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const NdArray<float> one = frames[i].load().latent;
    std::ranges::copy(one.values, all.row(static_cast<std::int64_t>(i)));
  }
  return all;
}

// Each picture against the same faces put into their frames by the CPU.
void check_pictures(const std::vector<PlacedFrame>& frames,
                    const std::vector<FinishedPicture>& pictures,
                    const NdArray<std::uint8_t>& faces) {
  REQUIRE(pictures.size() == frames.size());
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const PlacedFrame& frame = frames[i];
    const FrameContent content = frame.load();
    const Box& region = frame.mask_region;
    const ConstImageView face{faces.row(static_cast<std::int64_t>(i)), 256, 256, 3, 256 * 3};
    const ConstImageView mask{content.mask.data(), region.width(), region.height(), 1,
                              region.width()};
    const auto pasted = tests::pasted_by_twins(content.nv12, frame.width, frame.height, face, mask,
                                               {.placement = frame.placement,
                                                .mask_region = frame.mask_region,
                                                .finish = frame.finish,
                                                .lips = frame.lips});
    const bool scaled = frame.picture_width() != frame.width;
    const auto wanted = scaled
                            ? tests::scaled_by_twins(pasted, frame.width, frame.height,
                                                     frame.picture_width(), frame.picture_height())
                            : pasted;
    CHECK(pictures[i].on_device() == frame.stays);
    const std::shared_ptr<const std::uint8_t> host =
        frame.stays ? pictures[i].copy() : pictures[i].data;
    const std::vector<std::uint8_t> found(host.get(), host.get() + pictures[i].bytes);
    INFO("frame " << i);
    CHECK(tests::furthest(found, wanted) <=
          (scaled ? 2 : 1));  // a level each of pasting and scaling
    if (!scaled) CHECK(tests::furthest(found, content.nv12) > 10);  // there is a face
  }
}

}  // namespace

TEST_CASE(
    "on a device graphs give the bytes that kernel by kernel come, at every size of a batch") {
  NAVTALK_NEEDS_DEVICE();
  const Precision precision = k_emulated ? Precision::fp32 : Precision::fp16;
  Model eager = model_on_device(small_model(), precision, false);
  Model graphed = model_on_device(small_model(), precision);
  const Batch all = batch_of(eager, k_batches.back(), 51);
  for (const std::int64_t count : k_batches) {
    INFO("batch " << count);
    const Batch batch = part(all, 0, count);
    const auto wanted = eager.faces(batch.latent, batch.windows);
    // Without a graph, recorded and replayed, replayed.
    for (int run = 0; run < 3; ++run) {
      INFO("run " << run);
      CHECK(graphed.faces(batch.latent, batch.windows) == wanted);
    }
  }
  // A replay leaves nothing of the batch before it.
  const Batch first = part(all, 0, 1), last = part(all, k_batches.back() - 1, 1);
  const auto wanted = eager.faces(last.latent, last.windows);
  graphed.faces(first.latent, first.windows);
  CHECK(graphed.faces(last.latent, last.windows) == wanted);
}

TEST_CASE("pictures finished on a device are within one level of those composed on the CPU") {
  NAVTALK_NEEDS_DEVICE();
  const Precision precision = k_emulated ? Precision::fp32 : Precision::fp16;
  Model model = model_on_device(small_model(), precision);
  REQUIRE(model.info().pictures_on_device);
  const auto avatar = std::make_shared<const int>(0);
  const std::vector<PlacedFrame> frames = placed_frames(avatar);
  const auto count = static_cast<std::int64_t>(frames.size());
  const NdArray<float> windows = batch_of(model, count, 61).windows;
  const auto faces = model.faces(latents_of(frames), windows);
  check_pictures(frames, model.pictures(frames, windows), faces);
  // From frames that are there already, and from frames that had to go.
  const auto held = model.pictures(frames, windows);
  model.drop_frames();
  check_pictures(frames, model.pictures(frames, windows), faces);
  check_pictures(frames, held, faces);
}

TEST_CASE("what crosses between host and device arrives as it was, from several threads") {
  NAVTALK_NEEDS_DEVICE();
  const at::Device device = k_emulated ? at::Device(at::kCPU) : at::Device(at::kCUDA, 0);
  nets::DeviceCopies copies(device);
  std::atomic<int> wrong = 0;
  const auto cross = [&](int seed) {
    for (int round = 0; round < 40; ++round) {
      const std::int64_t count = 1 + round * 4099 % 100000;
      const auto value = [&](std::int64_t i) {
        return static_cast<std::uint8_t>(i * 7 + round + seed);
      };
      const at::Tensor there = copies.to_device({count}, at::kByte, [&](std::uint8_t* to) {
        for (std::int64_t i = 0; i < count; ++i) to[i] = value(i);
      });
      const at::Tensor more = there.add(1);
      auto same = copies.to_host(there), changed = copies.to_host(more);
      const auto a = same.wait(), b = changed.wait();
      for (std::int64_t i = 0; i < count; ++i)
        wrong += a.get()[i] != value(i) || b.get()[i] != static_cast<std::uint8_t>(value(i) + 1);
    }
  };
  std::vector<std::jthread> threads;
  for (const int seed : {1, 50, 99}) threads.emplace_back(cross, seed);
  threads.clear();
  CHECK(wrong == 0);
}

#ifndef NAVTALK_EMULATE_CUDA

namespace {

Model model_on_cpu(const std::filesystem::path& folder) {
  return Model::load({.models = folder, .device = {}, .precision = Precision::fp32});
}

// Of the largest of `wanted`, how far `found` is off.
double furthest_part(const NdArray<float>& found, const NdArray<float>& wanted) {
  REQUIRE(found.shape == wanted.shape);
  double most = 0, largest = 0;
  for (std::size_t i = 0; i < wanted.values.size(); ++i) {
    most = std::max(most, std::abs(double{found.values[i]} - double{wanted.values[i]}));
    largest = std::max(largest, std::abs(double{wanted.values[i]}));
  }
  return most / largest;
}

// Takes all memory of the device that libtorch can get.
std::vector<at::Tensor> all_memory() {
  std::vector<at::Tensor> taken;
  const auto options = at::TensorOptions().dtype(at::kByte).device(at::kCUDA, 0);
  for (std::int64_t bytes = std::int64_t{1} << 34; bytes >= 512;) try {
      taken.push_back(at::empty({bytes}, options));
    } catch (const c10::OutOfMemoryError&) {
      bytes /= 2;
    }
  return taken;
}

}  // namespace

TEST_CASE("faces of a device are those of the CPU: above 60 dB in fp32, 50 in fp16") {
  NAVTALK_NEEDS_DEVICE();
  Model cpu = model_on_cpu(small_model());
  const Batch batch = batch_of(cpu, 3, 21);
  const auto wanted = cpu.faces(batch.latent, batch.windows);
  for (const Precision precision : {Precision::fp32, Precision::fp16}) {
    Model model = model_on_device(small_model(), precision);
    CHECK(model.info().execution.unet == precision);
    const double db = psnr_of(model.faces(batch.latent, batch.windows), wanted);
    WARN(std::string(name(precision)) << ", small nets: " << db << " dB of the CPU's fp32");
    CHECK(db >= (precision == Precision::fp32 ? 60 : 50));
  }
}

TEST_CASE("each net of a device computes in fp32 what the CPU computes") {
  NAVTALK_NEEDS_DEVICE();
  Model cpu = model_on_cpu(small_model());
  Model model = model_on_device(small_model(), Precision::fp32);
  const Batch batch = batch_of(cpu, 2, 23);
  CHECK(furthest_part(model.unet(batch.latent, batch.windows),
                      cpu.unet(batch.latent, batch.windows)) < 1e-3);
  const NdArray<float> talking = normal_array({3, 4, 32, 32}, 25);
  CHECK(furthest_part(model.decode_raw(talking), cpu.decode_raw(talking)) < 1e-3);
  CHECK(psnr_of(model.decode_faces(talking), cpu.decode_faces(talking)) > 60);
  const NdArray<float> mel = normal_array({1, 80, 400}, 26);
  CHECK(furthest_part(model.whisper_states(mel), cpu.whisper_states(mel)) < 1e-3);
  const Image crop = noise(27, 256, 256);
  const std::vector<ConstImageView> crops{crop.view()};
  CHECK(furthest_part(model.encode(crops), cpu.encode(crops)) < 1e-3);
}

TEST_CASE("a device gives a face within 50 dB whatever else is in its batch") {
  NAVTALK_NEEDS_DEVICE();
  Model model = model_on_device(small_model(), Precision::fp16);
  const Batch all = batch_of(model, k_batches.back(), 71);
  std::vector<NdArray<std::uint8_t>> alone;
  for (std::int64_t i = 0; i < k_batches.back(); ++i) {
    const Batch one = part(all, i, 1);
    alone.push_back(model.faces(one.latent, one.windows));
  }
  int same = 0, faces = 0;
  for (const std::int64_t count : k_batches) {
    const Batch batch = part(all, 0, count);
    const auto together = model.faces(batch.latent, batch.windows);
    for (std::int64_t i = 0; i < count; ++i) {
      const auto one = part(together, i, 1);
      INFO("face " << i << " of " << count);
      CHECK(psnr_of(one, alone[static_cast<std::size_t>(i)]) >= 50);
      ++faces;
      same += one == alone[static_cast<std::size_t>(i)] ? 1 : 0;
    }
  }
  WARN(same << " of " << faces << " faces in batches have the bytes that they have alone");
}

TEST_CASE("several threads use one model on a device") {
  NAVTALK_NEEDS_DEVICE();
  Model model = model_on_device(small_model(), Precision::fp16);
  const auto avatar = std::make_shared<const int>(0);
  const std::vector<PlacedFrame> frames = placed_frames(avatar);
  const Batch batch = batch_of(model, std::ssize(frames), 81);
  const auto wanted = model.faces(batch.latent, batch.windows);
  const auto picture = [&] {
    std::vector<std::uint8_t> bytes;
    for (const FinishedPicture& one : model.pictures(frames, batch.windows)) {
      const std::shared_ptr<const std::uint8_t> host = one.on_device() ? one.copy() : one.data;
      bytes.insert(bytes.end(), host.get(), host.get() + one.bytes);
    }
    return bytes;
  };
  const auto wanted_pictures = picture();
  std::atomic<int> wrong = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      for (int round = 0; round < 20; ++round)
        wrong += i % 2 == 0 ? model.faces(batch.latent, batch.windows) != wanted
                            : picture() != wanted_pictures;
    });
  threads.clear();
  CHECK(wrong == 0);
}

TEST_CASE("a device without memory for a batch says so, and the model goes on when there is some") {
  NAVTALK_NEEDS_DEVICE();
  const bool graphs = GENERATE(false, true);
  Model model = model_on_device(small_model(), Precision::fp16, graphs);
  const Batch batch = batch_of(model, 8, 91), one = part(batch, 0, 1);
  const auto wanted = model.faces(one.latent, one.windows);
  const std::uint64_t before = device_pool(k_device).held;
  CHECK(before > 0);
  {
    const std::vector<at::Tensor> taken = all_memory();
    CHECK(device_pool(k_device).held > before);
    CHECK_THROWS_AS(model.faces(batch.latent, batch.windows), OutOfMemory);
    CHECK_THROWS_AS(model.faces(batch.latent, batch.windows), OutOfMemory);
  }
  restart_pool(k_device);
  CHECK(device_pool(k_device).held <= before);
  CHECK(model.faces(one.latent, one.windows) == wanted);
  Model again = model_on_device(small_model(), Precision::fp16, false);
  for (int run = 0; run < 3; ++run)
    CHECK(model.faces(batch.latent, batch.windows) == again.faces(batch.latent, batch.windows));
}

// Models of the published size are written by gpu_bench_nets --write-models.
TEST_CASE("nets of full size on a device: 50 dB in fp16, graphs, pictures", "[full]") {
  NAVTALK_NEEDS_DEVICE();
  const char* const folder = std::getenv("NAVTALK_TEST_MODELS");
  if (folder == nullptr) {
    WARN("skipped: $NAVTALK_TEST_MODELS names no folder of models");
    return;
  }
  std::optional<Model> cpu = model_on_cpu(folder);
  const Batch batch = batch_of(*cpu, 8, 121);
  const Batch few = part(batch, 0, 2);
  const auto wanted = cpu->faces(few.latent, few.windows);
  cpu.reset();
  for (const Precision precision : {Precision::fp32, Precision::fp16}) {
    Model eager = model_on_device(folder, precision, false);
    const double db = psnr_of(eager.faces(few.latent, few.windows), wanted);
    WARN(std::string(name(precision)) << ", full size: " << db << " dB of the CPU's fp32");
    CHECK(db >= (precision == Precision::fp32 ? 60 : 50));
    if (precision == Precision::fp32) continue;
    Model model = model_on_device(folder, precision);
    for (const std::int64_t count : {1, 2, 3, 8}) {
      INFO("batch " << count);
      const Batch some = part(batch, 0, count);
      const auto faces = eager.faces(some.latent, some.windows);
      for (int run = 0; run < 3; ++run) CHECK(model.faces(some.latent, some.windows) == faces);
    }
    const auto avatar = std::make_shared<const int>(0);
    const std::vector<PlacedFrame> frames = placed_frames(avatar);
    const NdArray<float> windows = part(batch, 0, std::ssize(frames)).windows;
    check_pictures(frames, model.pictures(frames, windows),
                   model.faces(latents_of(frames), windows));
  }
}

#endif  // NAVTALK_EMULATE_CUDA
