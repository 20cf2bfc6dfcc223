#include "tests/avatars/drawn_face.h"

#include <algorithm>

#include "core/media/encode/video_writer.h"

namespace navtalk::tests {
namespace {

// A grey ellipse; position and size in units of the face's width, from its centre.
struct Ellipse {
  double x, y, radius_x, radius_y;
  std::uint8_t grey;
};

// Back to front. Proportions found by trying random ones on the cascades.
constexpr Ellipse k_face[] = {
    {0, -0.07, 0.53, 0.71, 50},      {0, 0, 0.50, 0.55, 200},         // hair, skin
    {-0.18, -0.22, 0.14, 0.035, 60}, {0.18, -0.22, 0.14, 0.035, 60},  // brows
    {-0.18, -0.07, 0.13, 0.10, 179}, {0.18, -0.07, 0.13, 0.10, 179},  // sockets
    {-0.18, -0.07, 0.084, 0.05, 40}, {0.18, -0.07, 0.084, 0.05, 40},  // eyes
    {0, 0.163, 0.083, 0.03, 150},    {0, 0.30, 0.195, 0.05, 90},      // nose, mouth
};

void fill(Image& image, const DrawnFace& face, const Ellipse& ellipse) {
  const double centre_x = face.x + ellipse.x * face.width;
  const double centre_y = face.y + ellipse.y * face.width;
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) {
      const double u = (x + 0.5 - centre_x) / (ellipse.radius_x * face.width);
      const double v = (y + 0.5 - centre_y) / (ellipse.radius_y * face.width);
      if (u * u + v * v <= 1) std::fill_n(image.view().at(x, y), 3, ellipse.grey);
    }
  }
}

}  // namespace

Image draw(int width, int height, const std::vector<DrawnFace>& faces) {
  Image image(width, height);
  std::fill(image.pixels.begin(), image.pixels.end(), std::uint8_t{220});
  for (const DrawnFace& face : faces)
    for (const Ellipse& ellipse : k_face) fill(image, face, ellipse);
  return image;
}

void write_clip(const std::filesystem::path& file, const std::vector<Image>& frames, int fps) {
  VideoWriter writer({.path = file,
                      .width = frames.front().width,
                      .height = frames.front().height,
                      .fps = fps,
                      .audio = std::nullopt,
                      .crf = 12,
                      .threads = 1});
  for (const Image& frame : frames) writer.write(frame.view());
  writer.finish();
}

std::vector<Image> moving_face(int count, int width, int height) {
  std::vector<Image> frames;
  frames.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i)
    frames.push_back(draw(width, height, {{width / 2.0 + i / 2.0, height / 2.0, height * 0.45}}));
  return frames;
}

}  // namespace navtalk::tests
