#include "gpu/verify/verify.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>

#include "core/base/error.h"
#include "gpu/features/mel.h"
#include "gpu/features/windows.h"
#include "gpu/image/compose.h"
#include "gpu/model/model_files.h"
#include "gpu/verify/compared.h"
#include "gpu/verify/face_groups.h"
#include "gpu/verify/golden_file.h"
#include "gpu/verify/tolerance.h"

namespace navtalk {
namespace {

using Results = std::vector<GroupResult>;

constexpr std::int64_t k_mels = 80, k_mel_frames = 3000, k_tokens = 1500;
constexpr std::int64_t k_batch = 8;  // faces, or segments of 30 s, through the nets at once

// Shapes of the format; -1 for any length.
const Shape k_mel_shape{-1, k_mels, k_mel_frames};
const Shape k_latents_shape{-1, 8, k_latent_size, k_latent_size};
const Shape k_predicted_shape{-1, 4, k_latent_size, k_latent_size};
const Shape k_raw_shape{-1, 3, k_face_size, k_face_size};
const Shape k_faces_shape{-1, k_face_size, k_face_size, 3};

template <class T>
NdArray<T> slice(const NdArray<T>& array, std::int64_t begin, std::int64_t end) {
  Shape shape = array.shape;
  shape[0] = end - begin;
  return {shape, {array.row(begin), array.row(end)}};
}

// Runs `call` on slices of the first axis and joins what it returns.
template <class T, class Call>
NdArray<T> in_batches(std::int64_t count, const Call& call) {
  NdArray<T> joined;
  for (std::int64_t begin = 0; begin < count; begin += k_batch) {
    const NdArray<T> part = call(begin, std::min(count, begin + k_batch));
    if (joined.shape.empty()) joined.shape = part.shape;
    joined.shape[0] = begin + part.dim(0);
    joined.values.insert(joined.values.end(), part.values.begin(), part.values.end());
  }
  return joined;
}

// The nets. The tolerance of each is that of the precision that was asked for, which a net may
// exceed, or with "auto" that of the precision it has.
struct Subject {
  Model::Options options;
  Model model;
  std::optional<Precision> asked;
  Precision tolerance_for(Precision own) const { return asked.value_or(own); }
};

Results mel(const GoldenFile& golden) {
  const NdArray<float> samples = golden.floats("audio.samples", {-1});
  const NdArray<float> expected = golden.floats("mel.features", k_mel_shape);
  return {check_mel("mel.features",
                    compared(golden, "mel.features", log_mel(samples.values), expected))};
}

NdArray<float> whisper_states(Model& model, const NdArray<float>& features) {
  return in_batches<float>(features.dim(0), [&](std::int64_t begin, std::int64_t end) {
    return model.whisper_states(slice(features, begin, end));
  });
}

Results whisper(const GoldenFile& golden, Subject& subject) {
  const ModelInfo& info = subject.model.info();
  const NdArray<float> features = golden.floats("mel.features", k_mel_shape);
  const NdArray<float> expected = golden.floats(
      "whisper.states", {features.dim(0), k_tokens, info.whisper_layers + 1, info.context_width});
  const auto d =
      compared(golden, "whisper.states", whisper_states(subject.model, features), expected);
  return {in(info.execution.whisper, check_net("whisper.states", d, NetOutput::whisper_states,
                                               subject.tolerance_for(info.execution.whisper)))};
}

Results windows(const GoldenFile& golden) {
  const NdArray<float> samples = golden.floats("audio.samples", {-1});
  const NdArray<float> states = golden.floats("whisper.states", {-1, k_tokens, -1, -1});
  const NdArray<float> expected = golden.floats("windows.context", {-1, -1, -1});
  const NdArray<float> computed = context_windows(states, samples.dim(0), golden.fps());
  return {check_equal("windows.context", compared(golden, "windows.context", computed, expected))};
}

Results encode(const GoldenFile& golden, Subject& subject) {
  const NdArray<std::uint8_t> images = golden.bytes("encode.image", k_faces_shape);
  const NdArray<float> expected = golden.floats("encode.latents", k_latents_shape);
  const auto computed = in_batches<float>(images.dim(0), [&](std::int64_t begin, std::int64_t end) {
    std::vector<ConstImageView> crops;
    for (std::int64_t i = begin; i < end; ++i)
      crops.push_back({images.row(i), k_face_size, k_face_size, 3, 3 * k_face_size});
    return subject.model.encode(crops);
  });
  const Precision own = subject.model.info().execution.encoder;
  return {
      in(own, check_net("encode.latents", compared(golden, "encode.latents", computed, expected),
                        NetOutput::latents, subject.tolerance_for(own)))};
}

Results unet(const GoldenFile& golden, Subject& subject) {
  const ModelInfo& info = subject.model.info();
  const NdArray<float> latent = golden.floats("unet.latent", k_latents_shape);
  const NdArray<float> context =
      golden.floats("unet.context", {latent.dim(0), info.context_rows, info.context_width});
  const NdArray<float> expected = golden.floats("unet.output", k_predicted_shape);
  const auto computed = in_batches<float>(latent.dim(0), [&](std::int64_t begin, std::int64_t end) {
    return subject.model.unet(slice(latent, begin, end), slice(context, begin, end));
  });
  return {in(info.execution.unet,
             check_net("unet.output", compared(golden, "unet.output", computed, expected),
                       NetOutput::unet_output, subject.tolerance_for(info.execution.unet)))};
}

NdArray<float> decoded(Model& model, const NdArray<float>& latent) {
  return in_batches<float>(latent.dim(0), [&](std::int64_t begin, std::int64_t end) {
    return model.decode_raw(slice(latent, begin, end));
  });
}

// The reference rounds differently when it decodes several latents at once, in fp32 up to four
// times the tolerance: what agrees with either is right.
GroupResult decode_raw(const GoldenFile& golden, Subject& subject, const NdArray<float>& latent,
                       Precision precision) {
  const NdArray<float> expected = golden.floats("decode.raw", k_raw_shape);
  const auto check = [&](Model& model) {
    return check_net("decode.raw", compared(golden, "decode.raw", decoded(model, latent), expected),
                     NetOutput::picture, precision);
  };
  GroupResult single = check(subject.model);
  if (single.passed || latent.dim(0) < 2 || precision != Precision::fp32) return single;
  Model::Options options = subject.options;
  options.decode_as_batch = true;
  options.whisper = options.unet = options.vae_encoder = false;
  Model batched = Model::load(options);
  GroupResult batch = check(batched);
  if (batch.max_difference >= single.max_difference) return single;
  batch.tolerance += ", decoded as one batch";
  return batch;
}

Results decode(const GoldenFile& golden, Subject& subject) {
  const NdArray<float> latent = golden.floats("decode.latent", k_predicted_shape);
  const NdArray<std::uint8_t> faces = golden.bytes("decode.face", k_faces_shape);
  const Precision precision = subject.tolerance_for(subject.model.info().execution.decoder);
  const auto bytes =
      in_batches<std::uint8_t>(latent.dim(0), [&](std::int64_t begin, std::int64_t end) {
        return subject.model.decode_faces(slice(latent, begin, end));
      });
  const Precision own = subject.model.info().execution.decoder;
  return {in(own, decode_raw(golden, subject, latent, precision)),
          in(own,
             check_faces("decode.face", compared(golden, "decode.face", bytes, faces), precision))};
}

Box read_box(const GoldenFile& golden, std::string_view tensor) {
  constexpr std::int64_t k_limit = 1 << 20;
  const NdArray<std::int64_t> corners = golden.integers(tensor, {4});
  for (const std::int64_t corner : corners.values)
    if (corner < -k_limit || corner > k_limit)
      golden.fail(std::string(tensor) + " is out of range");
  const auto at = [&](std::size_t i) { return static_cast<int>(corners.values[i]); };
  const Box box{at(0), at(1), at(2), at(3)};
  if (box.empty()) golden.fail(std::string(tensor) + " is empty");
  return box;
}

Results compose(const GoldenFile& golden) {
  NdArray<std::uint8_t> frame = golden.bytes("compose.frame", {-1, -1, 3});
  const NdArray<std::uint8_t> face = golden.bytes("compose.face", {k_face_size, k_face_size, 3});
  const NdArray<std::uint8_t> expected = golden.bytes("compose.output", frame.shape);
  const Placement placement{read_box(golden, "compose.box"), read_box(golden, "compose.crop_box")};
  const NdArray<std::uint8_t> mask =
      golden.bytes("compose.mask", {placement.crop_box.height(), placement.crop_box.width()});
  navtalk::compose(picture(frame.values.data(), frame.shape, 3),
                   picture(face.values.data(), face.shape, 3), placement,
                   picture(mask.values.data(), mask.shape, 1));
  return {check_equal("compose.output", compared(golden, "compose.output", frame, expected))};
}

// Latents for output frames begin to end-1: 0...K-1, K-1...0, and again.
NdArray<float> back_and_forth(const NdArray<float>& latents, std::int64_t begin, std::int64_t end) {
  const std::int64_t count = latents.dim(0);
  NdArray<float> picked(Shape{end - begin, latents.dim(1), latents.dim(2), latents.dim(3)});
  for (std::int64_t t = begin; t < end; ++t) {
    const std::int64_t phase = t % (2 * count);
    const std::int64_t index = phase < count ? phase : 2 * count - 1 - phase;
    std::copy(latents.row(index), latents.row(index + 1), picked.row(t - begin));
  }
  return picked;
}

// The format whose rounding dominates a chain of nets.
Precision coarsest(std::initializer_list<Precision> precisions) {
  Precision result = Precision::fp32;
  for (const Precision precision : precisions)
    if (precision == Precision::bf16 || result == Precision::fp32) result = precision;
  return result;
}

Results pipeline(const GoldenFile& golden, Subject& subject) {
  const NdArray<float> samples = golden.floats("audio.samples", {-1});
  const NdArray<float> latents = golden.floats("pipeline.latents", k_latents_shape);
  const NdArray<std::uint8_t> expected = golden.bytes("pipeline.face", k_faces_shape);
  const std::int64_t frames = expected.dim(0);
  if (frames > frame_count(samples.dim(0), golden.fps()))
    golden.fail("pipeline.face has more frames than the audio");
  if (latents.dim(0) == 0) golden.fail("pipeline.latents is empty");

  const NdArray<float> states = whisper_states(subject.model, log_mel(samples.values));
  const NdArray<float> context = context_windows(states, samples.dim(0), golden.fps());
  const auto faces = in_batches<std::uint8_t>(frames, [&](std::int64_t begin, std::int64_t end) {
    return subject.model.faces(back_and_forth(latents, begin, end), slice(context, begin, end));
  });
  const ModelInfo& info = subject.model.info();
  const Precision own =
      coarsest({info.execution.whisper, info.execution.unet, info.execution.decoder});
  return {check_faces("pipeline.face", compared(golden, "pipeline.face", faces, expected),
                      subject.tolerance_for(own))};
}

// A folder that has the face networks only is whole for these groups.
bool needs_musetalk(const GoldenFile& golden) {
  return std::ranges::any_of(golden_groups(), [&](const GoldenGroup& group) {
    return !group.face_network && golden.holds(group.name);
  });
}

// Only the nets that the file's groups run; none at all when they run none.
std::optional<Subject> load_nets(Model::Options options, const GoldenFile& golden) {
  const bool pipeline = golden.holds("pipeline");
  options.whisper = pipeline || golden.holds("whisper");
  options.unet = pipeline || golden.holds("unet");
  options.vae_decoder = pipeline || golden.holds("decode");
  options.vae_encoder = golden.holds("encode");
  if (!options.whisper && !options.unet && !options.vae_decoder && !options.vae_encoder)
    return std::nullopt;
  return Subject{options, Model::load(options), options.precision};
}

Results compare_group(std::string_view group, const GoldenFile& golden,
                      const Model::Options& options, std::optional<Subject>& subject) {
  if (group == "bisenet") return compare_bisenet(golden, options);
  if (group == "dwpose") return compare_dwpose(golden, options);
  if (group == "s3fd") return compare_s3fd(golden, options);
  if (group == "mel") return mel(golden);
  if (group == "whisper") return whisper(golden, subject.value());
  if (group == "windows") return windows(golden);
  if (group == "encode") return encode(golden, subject.value());
  if (group == "unet") return unet(golden, subject.value());
  if (group == "decode") return decode(golden, subject.value());
  if (group == "compose") return compose(golden);
  return pipeline(golden, subject.value());
}

}  // namespace

Results verify(const Model::Options& options, const std::filesystem::path& golden_path,
               const Progress& progress) {
  const GoldenFile golden = GoldenFile::open(golden_path);
  // Must be there even when no group runs a net.
  if (needs_musetalk(golden)) find_model_files(options.models);
  std::optional<Subject> subject = load_nets(options, golden);

  Results results;
  const auto groups = golden_groups();
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (progress) progress(groups[i].name, i, groups.size());
    const std::string_view missing = golden.missing(groups[i]);
    if (!missing.empty()) {
      results.push_back({.group = std::string(groups[i].name),
                         .reason = std::string(missing) + " is not in the file"});
      continue;
    }
    try {
      std::ranges::move(compare_group(groups[i].name, golden, options, subject),
                        std::back_inserter(results));
    } catch (const Error& error) {
      throw error.within("comparing the group " + std::string(groups[i].name));
    }
  }
  if (progress) progress("compared", groups.size(), groups.size());
  return results;
}

}  // namespace navtalk
