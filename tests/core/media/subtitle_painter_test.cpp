#include "core/media/subtitle_painter.h"

#include <catch2/catch.hpp>

using namespace navtalk;

namespace {

// Bright pixels, of which a dark picture has none but letters.
int bright(const Image& image, int from_row, int to_row) {
  int count = 0;
  for (int y = from_row; y < to_row; ++y) {
    for (int x = 0; x < image.width; ++x) count += *image.view().at(x, y) > 200;
  }
  return count;
}

Image painted(SubtitlePainter& painter, double time_s) {
  Image image(320, 240);
  painter.paint(image.view(), time_s);
  return image;
}

}  // namespace

TEST_CASE("what is said stands at the bottom of the picture while it is said") {
  SubtitlePainter painter(320, 240, {{1, 2, "Hello,\nGrüße {x}"}, {3, 4, "Привет"}});
  CHECK(painted(painter, 0.9) == Image(320, 240));
  const Image said = painted(painter, 1.0);
  CHECK(bright(said, 0, 160) == 0);
  CHECK(bright(said, 160, 240) > 20);
  CHECK(painted(painter, 1.96) == said);
  CHECK(painted(painter, 2.5) == Image(320, 240));
  CHECK(bright(painted(painter, 3.5), 160, 240) > 20);
}

TEST_CASE("a letter that no font has is told") {
  SubtitlePainter known(320, 240, {{1, 2, "Hello"}});
  painted(known, 1.5);
  CHECK_FALSE(known.lacks_letters());
  SubtitlePainter unknown(320, 240, {{1, 2, "\U000F1234"}});  // of private use
  CHECK_FALSE(unknown.lacks_letters());
  painted(unknown, 1.5);
  CHECK(unknown.lacks_letters());
}
