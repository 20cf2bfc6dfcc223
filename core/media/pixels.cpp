#include "core/media/pixels.h"

extern "C" {
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
}

#include <algorithm>
#include <new>

#include "core/base/check.h"
#include "core/base/error.h"

namespace navtalk::media {
namespace {

constexpr int k_exact =
    SWS_BILINEAR | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT | SWS_FULL_CHR_H_INP | SWS_BITEXACT;
constexpr std::size_t k_read_ahead = 64;  // bytes, an AVX-512 register
constexpr int k_one = 1 << 16;            // contrast and saturation, 16.16

struct Format {
  AVPixelFormat format;
  int space = SWS_CS_ITU709;
  bool full_range = false;
  AVChromaLocation location = AVCHROMA_LOC_LEFT;
};

// Chroma positions in 1/256 of a luma sample; only a subsampled axis has one.
void set_chroma(SwsContext* context, const char* side, const Format& format) {
  const AVPixFmtDescriptor* layout = av_pix_fmt_desc_get(format.format);
  const std::string prefix(side);
  const AVChromaLocation at = format.location;
  if (layout->log2_chroma_w > 0) {
    const bool centred =
        at == AVCHROMA_LOC_CENTER || at == AVCHROMA_LOC_TOP || at == AVCHROMA_LOC_BOTTOM;
    av_opt_set_int(context, (prefix + "_h_chr_pos").c_str(), centred ? 128 : 0, 0);
  }
  if (layout->log2_chroma_h > 0) {
    const bool top = at == AVCHROMA_LOC_TOP || at == AVCHROMA_LOC_TOPLEFT;
    const bool bottom = at == AVCHROMA_LOC_BOTTOM || at == AVCHROMA_LOC_BOTTOMLEFT;
    const int position = top ? 0 : bottom ? 256 : 128;
    av_opt_set_int(context, (prefix + "_v_chr_pos").c_str(), position, 0);
  }
}

ScalerPtr make_scaler(int width, int height, const Format& from, const Format& to) {
  ScalerPtr scaler(sws_alloc_context());
  if (!scaler) throw std::bad_alloc();
  const auto set = [&](const char* key, int value) { av_opt_set_int(scaler.get(), key, value, 0); };
  set("srcw", width), set("srch", height), set("src_format", from.format);
  set("dstw", width), set("dsth", height), set("dst_format", to.format);
  set("sws_flags", k_exact);
  set_chroma(scaler.get(), "src", from);
  set_chroma(scaler.get(), "dst", to);
  const int rc = sws_init_context(scaler.get(), nullptr, nullptr);
  if (rc < 0)
    throw Error(Code::invalid, std::string("pixels of format ") + av_get_pix_fmt_name(from.format) +
                                   " cannot be converted: " + reason(rc));
  sws_setColorspaceDetails(scaler.get(), sws_getCoefficients(from.space), from.full_range,
                           sws_getCoefficients(to.space), to.full_range, 0, k_one, k_one);
  return scaler;
}

void interleave(const AVFrame& planar, ImageView bgr) {
  for (int y = 0; y < bgr.height; ++y) {
    const std::uint8_t* green = planar.data[0] + std::ptrdiff_t{y} * planar.linesize[0];
    const std::uint8_t* blue = planar.data[1] + std::ptrdiff_t{y} * planar.linesize[1];
    const std::uint8_t* red = planar.data[2] + std::ptrdiff_t{y} * planar.linesize[2];
    std::uint8_t* out = bgr.row(y);
    for (int x = 0; x < bgr.width; ++x, out += 3) {
      out[0] = blue[x];
      out[1] = green[x];
      out[2] = red[x];
    }
  }
}

}  // namespace

void FrameToBgr::convert(const AVFrame& frame, ImageView bgr) {
  NAVTALK_CHECK(bgr.width == frame.width && bgr.height == frame.height && bgr.channels == 3);
  if (frame.format == AV_PIX_FMT_GBRP) {  // lossless H.264: the pictures' own bytes
    interleave(frame, bgr);
    return;
  }
  const bool same = scaler_ && frame.format == format_ && frame.colorspace == space_ &&
                    frame.color_range == range_ && frame.chroma_location == location_ &&
                    frame.width == planar_->width && frame.height == planar_->height;
  if (!same) prepare(frame);
  const int rows = sws_scale(scaler_.get(), frame.data, frame.linesize, 0, frame.height,
                             planar_->data, planar_->linesize);
  NAVTALK_CHECK(rows == frame.height);
  interleave(*planar_, bgr);
}

void FrameToBgr::prepare(const AVFrame& frame) {
  const Format from{.format = static_cast<AVPixelFormat>(frame.format),
                    .space = frame.colorspace,  // swscale's numbers are the standard's, 2 is 601
                    .full_range = frame.color_range == AVCOL_RANGE_JPEG,
                    .location = frame.chroma_location};
  scaler_ =
      make_scaler(frame.width, frame.height, from, {.format = AV_PIX_FMT_GBRP, .full_range = true});
  planar_ = make_frame();
  planar_->format = AV_PIX_FMT_GBRP;
  planar_->width = frame.width;
  planar_->height = frame.height;
  if (av_frame_get_buffer(planar_.get(), 0) < 0) throw std::bad_alloc();
  format_ = frame.format;
  space_ = frame.colorspace;
  range_ = frame.color_range;
  location_ = frame.chroma_location;
}

BgrToYuv420::BgrToYuv420(int width, int height)
    : width_(width),
      height_(height),
      scaler_(make_scaler(width, height, {.format = AV_PIX_FMT_BGR24, .full_range = true},
                          {.format = AV_PIX_FMT_YUV420P})),
      tail_(2 * 3 * static_cast<std::size_t>(width) + k_read_ahead) {}

void BgrToYuv420::convert(ConstImageView bgr, AVFrame& frame) {
  NAVTALK_CHECK(bgr.width == width_ && bgr.height == height_ && bgr.channels == 3);
  NAVTALK_CHECK(frame.width - width_ == width_ % 2 && frame.height - height_ == height_ % 2);
  // swscale reads some bytes past the last pixel that it needs. All rows but the last two are
  // followed by another, so only those are copied to where more may be read.
  const int body = std::max(0, (height_ - 1) / 2 * 2);
  const std::size_t row_size = 3 * static_cast<std::size_t>(width_);
  for (int y = body; y < height_; ++y)
    std::copy_n(bgr.row(y), row_size, tail_.data() + (y - body) * row_size);
  const auto slice = [&](const std::uint8_t* data, std::ptrdiff_t stride, int y, int rows) {
    const std::uint8_t* const planes[4] = {data};
    const int strides[4] = {static_cast<int>(stride)};
    sws_scale(scaler_.get(), planes, strides, y, rows, frame.data, frame.linesize);
  };
  if (body > 0) slice(bgr.data, bgr.stride, 0, body);
  slice(tail_.data(), static_cast<std::ptrdiff_t>(row_size), body, height_ - body);
  const auto row = [&](int y) { return frame.data[0] + std::ptrdiff_t{y} * frame.linesize[0]; };
  if (frame.width > width_) {
    for (int y = 0; y < height_; ++y) row(y)[width_] = row(y)[width_ - 1];
  }
  if (frame.height > height_) std::copy_n(row(height_ - 1), frame.width, row(height_));
}

void nv12_to_yuv420(const Nv12View& picture, AVFrame& frame) {
  NAVTALK_CHECK(frame.width == picture.width && frame.height == picture.height);
  const auto row = [&frame](int plane, int y) {
    return frame.data[plane] + std::ptrdiff_t{y} * frame.linesize[plane];
  };
  const std::uint8_t* from = picture.data;
  for (int y = 0; y < picture.height; ++y, from += picture.width)
    std::copy_n(from, picture.width, row(0, y));
  for (int y = 0; y < picture.height / 2; ++y) {
    std::uint8_t* u = row(1, y);
    std::uint8_t* v = row(2, y);
    for (int x = 0; x < picture.width / 2; ++x, from += 2) {
      u[x] = from[0];
      v[x] = from[1];
    }
  }
}

}  // namespace navtalk::media
