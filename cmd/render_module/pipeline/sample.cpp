#include "cmd/render_module/pipeline/sample.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "avatars/live/live_hearing.h"
#include "core/tensor/image.h"
#include "gpu/features/mel.h"
#include "gpu/nets/net_config.h"

namespace navtalk::cmd {
namespace {

constexpr std::int64_t k_past = 4 * k_sample_rate_hz, k_future = k_sample_rate_hz / 5;

// Whether (x, y), in shares of the picture, lies in an ellipse.
bool within(double x, double y, double middle_x, double middle_y, double wide, double high) {
  const double across = (x - middle_x) / wide, down = (y - middle_y) / high;
  return across * across + down * down < 1;
}

struct Bgr {
  double b, g, r;
};

// A head before a gradient, with eyes and a mouth.
Bgr colour_at(double x, double y) {
  if (within(x, y, 0.36, 0.42, 0.07, 0.035) || within(x, y, 0.64, 0.42, 0.07, 0.035))
    return {60, 50, 45};
  if (within(x, y, 0.5, 0.74, 0.14, 0.05)) return {90, 70, 170};
  if (within(x, y, 0.5, 0.5, 0.36, 0.46)) return {150 - 30 * y, 175 - 20 * x, 215 - 25 * y};
  return {110 + 60 * x, 120 - 50 * y, 90 + 40 * y};
}

Image drawn_face() {
  Image picture(k_face_size, k_face_size);
  for (int y = 0; y < k_face_size; ++y)
    for (int x = 0; x < k_face_size; ++x) {
      const Bgr colour = colour_at((x + 0.5) / k_face_size, (y + 0.5) / k_face_size);
      const double texture = 6 * std::sin(0.9 * x) * std::cos(0.7 * y);
      std::uint8_t* const pixel = picture.view().at(x, y);
      const double levels[] = {colour.b, colour.g, colour.r};
      for (int c = 0; c < 3; ++c)
        pixel[c] = static_cast<std::uint8_t>(std::clamp(levels[c] + texture, 0.0, 255.0));
    }
  return picture;
}

// Harmonics of 120 Hz that come and go four times a second, as syllables do.
std::int16_t voice_at(std::int64_t sample) {
  const double time_s = static_cast<double>(sample) / k_sample_rate_hz;
  const double turn = 2 * std::numbers::pi * time_s;
  double sum = 0;
  for (int harmonic = 1; harmonic <= 12; ++harmonic)
    sum += std::sin(120 * harmonic * turn) / harmonic;
  return static_cast<std::int16_t>(4000 * sum * (0.55 + 0.45 * std::sin(4 * turn)));
}

// `late`: by how much later in the sound the picture is shown.
SoundWindow sound_at(std::int64_t late) {
  SoundWindow sound{.samples = std::vector<std::int16_t>(k_past + k_future),
                    .first = static_cast<std::size_t>(k_past)};
  for (std::int64_t i = 0; i < std::ssize(sound.samples); ++i)
    sound.samples[static_cast<std::size_t>(i)] = voice_at(i + late);
  return sound;
}

}  // namespace

NdArray<float> sample_latents(Model& encoder) {
  Image face = drawn_face();
  const ConstImageView crop = face.view();
  const NdArray<float> one = encoder.encode({&crop, 1});
  NdArray<float> all({k_sample_faces, one.dim(1), one.dim(2), one.dim(3)});
  for (std::int64_t i = 0; i < k_sample_faces; ++i) std::ranges::copy(one.values, all.row(i));
  return all;
}

NdArray<float> sample_windows(Model& model) {
  const ModelInfo& info = model.info();
  NdArray<float> all({k_sample_faces, info.context_rows, info.context_width});
  for (std::int64_t i = 0; i < k_sample_faces; ++i) {
    const SoundWindow sound = sound_at(i * k_sample_rate_hz / 16);
    const SoundWindow* const one = &sound;
    std::ranges::copy(LiveHearing().windows(model, {&one, 1}).front().values, all.row(i));
  }
  return all;
}

SoundWindow live_sound() { return sound_at(0); }

}  // namespace navtalk::cmd
