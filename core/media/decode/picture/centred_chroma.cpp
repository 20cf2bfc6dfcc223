#include "core/media/decode/picture/centred_chroma.h"

extern "C" {
#include <libavutil/pixdesc.h>
}

#include <algorithm>
#include <cstdint>
#include <vector>

namespace navtalk::media {
namespace {

const AVPixFmtDescriptor& layout_of(const AVFrame& frame) {
  return *av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame.format));
}

// One plane of colour at the picture's own size, row by row. Between samples it is interpolated:
//
//   samples    |    a    |    b    |      pixel p is nearer to a: (3a + b) / 4, and so for rows
//   pixels     |  .   p  |  q   .  |      at the edges the last sample stands for the next one
class ChromaPlane {
 public:
  ChromaPlane(const AVFrame& frame, int plane)
      : data_(frame.data[plane]),
        stride_(frame.linesize[plane]),
        half_width_(layout_of(frame).log2_chroma_w == 1),
        half_height_(layout_of(frame).log2_chroma_h == 1),
        width_(half_width_ ? (frame.width + 1) / 2 : frame.width),
        height_(half_height_ ? (frame.height + 1) / 2 : frame.height),
        sums_(static_cast<std::size_t>(width_)),
        row_(static_cast<std::size_t>(width_) * 2) {}

  const std::uint8_t* row(int y) {
    weigh_rows(y);
    const auto at = [&](int x) {
      return sums_[static_cast<std::size_t>(std::clamp(x, 0, width_ - 1))];
    };
    // Halves are rounded up and down in turn. A picture of two samples a row is not interpolated.
    const int scale = half_height_ ? 4 : 1, shift = half_height_ ? 4 : 2;
    const int up = half_height_ ? 8 : 1, down = half_height_ ? 7 : 2;
    for (int x = 0; x < width_; ++x) {
      std::uint8_t* out = row_.data() + (half_width_ ? 2 * x : x);
      if (!half_width_ || width_ <= 2) {
        const int value = half_height_ ? (at(x) + (y % 2 == 0 ? 1 : 2)) / scale : at(x);
        out[0] = static_cast<std::uint8_t>(value);
        if (half_width_) out[1] = out[0];
        continue;
      }
      out[0] = static_cast<std::uint8_t>((3 * at(x) + at(x - 1) + up) >> shift);
      out[1] = static_cast<std::uint8_t>((3 * at(x) + at(x + 1) + down) >> shift);
    }
    return row_.data();
  }

 private:
  const std::uint8_t* samples(int y) const {
    return data_ + std::ptrdiff_t{std::clamp(y, 0, height_ - 1)} * stride_;
  }

  // The samples for one row of pixels: four times their value where rows are interpolated.
  void weigh_rows(int y) {
    if (!half_height_) {
      std::copy_n(samples(y), width_, sums_.begin());
      return;
    }
    const std::uint8_t* near = samples(y / 2);
    const std::uint8_t* far =
        width_ <= 2 && half_width_ ? near : samples(y / 2 + (y % 2 == 0 ? -1 : 1));
    for (int x = 0; x < width_; ++x) sums_[static_cast<std::size_t>(x)] = 3 * near[x] + far[x];
  }

  const std::uint8_t* data_;
  std::ptrdiff_t stride_;
  bool half_width_, half_height_;
  int width_, height_;  // in samples
  std::vector<int> sums_;
  std::vector<std::uint8_t> row_;
};

std::uint8_t to_byte(int value_16) {
  return static_cast<std::uint8_t>(std::clamp((value_16 + (1 << 15)) >> 16, 0, 255));
}

// BT.601 in 16.16, for full range and for luma 16 to 235.
struct Matrix {
  int black, luma, red_of_cr, green_of_cb, green_of_cr, blue_of_cb;
};
constexpr Matrix k_full{0, 65536, 91881, -22554, -46802, 116130};
constexpr Matrix k_limited{16, 76309, 104597, -25675, -53279, 132201};

}  // namespace

bool has_centred_chroma(const AVFrame& frame) {
  const AVPixFmtDescriptor& layout = layout_of(frame);
  constexpr std::uint64_t k_others = AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL |
                                     AV_PIX_FMT_FLAG_BITSTREAM | AV_PIX_FMT_FLAG_HWACCEL;
  return layout.nb_components >= 3 && (layout.flags & AV_PIX_FMT_FLAG_PLANAR) != 0 &&
         (layout.flags & k_others) == 0 && layout.comp[0].depth == 8 && layout.comp[1].step == 1 &&
         layout.log2_chroma_w <= 1 && layout.log2_chroma_h <= 1;
}

void centred_chroma_to_bgr(const AVFrame& frame, ImageView bgr) {
  const Matrix& matrix = frame.color_range == AVCOL_RANGE_JPEG ? k_full : k_limited;
  ChromaPlane blue(frame, 1), red(frame, 2);
  for (int y = 0; y < bgr.height; ++y) {
    const std::uint8_t* luma = frame.data[0] + std::ptrdiff_t{y} * frame.linesize[0];
    const std::uint8_t* cb_row = blue.row(y);
    const std::uint8_t* cr_row = red.row(y);
    std::uint8_t* out = bgr.row(y);
    for (int x = 0; x < bgr.width; ++x, out += 3) {
      const int level = (luma[x] - matrix.black) * matrix.luma, cb = cb_row[x] - 128,
                cr = cr_row[x] - 128;
      out[0] = to_byte(level + matrix.blue_of_cb * cb);
      out[1] = to_byte(level + matrix.green_of_cb * cb + matrix.green_of_cr * cr);
      out[2] = to_byte(level + matrix.red_of_cr * cr);
    }
  }
}

}  // namespace navtalk::media
