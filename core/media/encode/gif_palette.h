// Up to 255 colours for the pictures of one GIF, chosen from its first picture, and the pictures in
// these colours. The same threshold pattern dithers every picture, so what stands still does not
// flicker. One thread at a time. Private to core/media.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/media/ffmpeg.h"
#include "core/tensor/image.h"

namespace navtalk::media {

class GifPalette {
 public:
  // `bgr`: the colours are divided where its own are (median cut), and 64 spread evenly stand for
  // what later pictures show.
  explicit GifPalette(ConstImageView bgr);

  // Frame: PAL8 of the picture's size.
  void convert(ConstImageView bgr, AVFrame& frame);

 private:
  using Colour = std::array<std::uint8_t, 3>;  // B, G, R
  std::uint8_t nearest(int cell);

  std::vector<Colour> colours_;
  std::vector<std::int16_t>
      known_;  // the nearest colour of each cell of 32x32x32; -1: not yet known
};

}  // namespace navtalk::media
