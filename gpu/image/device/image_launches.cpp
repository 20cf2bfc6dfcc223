#include "gpu/image/device/image_launches.h"

#include <cstring>

#include "core/base/check.h"
#include "gpu/image/color.h"
#include "gpu/image/device/image.h"
#include "gpu/image/paste.h"
#include "gpu/image/scale.h"

namespace navtalk::cuda {
namespace {

constexpr int k_generated = 256;  // side of the face that the model makes

std::ptrdiff_t picture_bytes(int batch, int width, int height, int channels) {
  return std::ptrdiff_t{batch} * width * height * channels;
}

std::ptrdiff_t area_of(const Box& box) { return std::ptrdiff_t{box.width()} * box.height(); }

}  // namespace

std::ptrdiff_t ImageLaunches::place(std::ptrdiff_t bytes) {
  constexpr std::size_t k_alignment = 256;
  const std::size_t at = (bytes_ + k_alignment - 1) / k_alignment * k_alignment;
  bytes_ = at + static_cast<std::size_t>(bytes);
  return static_cast<std::ptrdiff_t>(at);
}

ImageLaunches::ImageLaunches(const BenchPictures& pictures) : pictures_(pictures) {
  const auto [batch, width, height, face, placement, mask_region] = pictures;
  const std::ptrdiff_t frame_bytes = picture_bytes(batch, width, height, 3),
                       face_bytes = picture_bytes(batch, face, face, 3),
                       generated_bytes = picture_bytes(batch, k_generated, k_generated, 3),
                       half_bytes = picture_bytes(batch, width / 2, height / 2, 3),
                       mask_bytes = batch * area_of(mask_region);
  const std::ptrdiff_t frame = place(frame_bytes), frame_result = place(frame_bytes),
                       frame_mask = place(frame_bytes / 3), half = place(half_bytes),
                       generated = place(generated_bytes), of_face = place(face_bytes),
                       face_result = place(face_bytes), face_mask = place(face_bytes / 3),
                       mask = place(mask_bytes);
  yuv_ = place(frame_bytes / 2);
  yuv_result_ = place(frame_bytes / 2);
  decoded_ = place(2 * generated_bytes);

  launches_.push_back(
      {"resize, linear", "frame", half_bytes + frame_bytes,
       [=](std::uint8_t* memory, Stream stream) {
         resize(interleaved<const std::uint8_t>(memory + half, batch, height / 2, width / 2),
                interleaved(memory + frame_result, batch, height, width), stream);
       }});
  launches_.push_back({"resize, linear", "face", generated_bytes + face_bytes,
                       [=](std::uint8_t* memory, Stream stream) {
                         resize(interleaved<const std::uint8_t>(memory + generated, batch,
                                                                k_generated, k_generated),
                                interleaved(memory + face_result, batch, face, face), stream);
                       }});
  add_filters("frame", width, height, frame, frame_result, frame_mask);
  add_filters("face", face, face, of_face, face_result, face_mask);

  // The frame is read and written whole, the decoder's output and the mask where they show.
  const Box shown =
      intersection(placement.box, mask_region.moved(placement.crop_box.x1, placement.crop_box.y1));
  const std::ptrdiff_t seen = area_of(shown) * k_generated * k_generated / area_of(placement.box);
  const std::ptrdiff_t bytes = frame_bytes + batch * (area_of(shown) + 2 * 3 * seen);
  const std::ptrdiff_t one_frame = static_cast<std::ptrdiff_t>(yuv420_bytes(width, height));
  const std::ptrdiff_t match = place(batch * static_cast<std::ptrdiff_t>(k_match_bytes));
  const auto paste = [=, yuv = yuv_, result = yuv_result_, decoded = decoded_,
                      mask_width = mask_region.width(), one_mask = area_of(mask_region)](
                         std::uint8_t* memory, const FaceFinish& finish, Stream stream) {
    std::vector<FacePaste> faces;
    for (int n = 0; n < batch; ++n)
      faces.push_back({.frame = memory + yuv + n * one_frame,
                       .out = memory + result + n * one_frame,
                       .face = memory + decoded + n * 2 * generated_bytes / batch,
                       .mask = memory + mask + n * one_mask,
                       .mask_stride = mask_width,
                       .mask_region = mask_region,
                       .placement = placement,
                       .unsharp = finish.unsharp,
                       .match = finish.match_colour
                                    ? memory + match + n * static_cast<int>(k_match_bytes)
                                    : nullptr});
    paste_faces(faces, width, height, Format::fp16, 3, stream);
  };
  const auto add_paste = [&](const char* operation, const FaceFinish& finish) {
    launches_.push_back({operation, "frame", bytes, [=](std::uint8_t* memory, Stream stream) {
                           paste(memory, finish, stream);
                         }});
  };
  add_paste("post-process", {});
  add_paste("post-process, unsharp", {.unsharp = Unsharp{}});
  add_paste("post-process, matched", {.match_colour = true});
  const int to_width = width / 4 * 2, to_height = height / 4 * 2;
  const auto one_half = static_cast<std::ptrdiff_t>(yuv420_bytes(to_width, to_height));
  const std::ptrdiff_t scaled = place(batch * one_half);
  launches_.push_back({"post-process, half size", "frame", bytes + batch * (one_frame + one_half),
                       [=, result = yuv_result_](std::uint8_t* memory, Stream stream) {
                         paste(memory, {}, stream);
                         std::vector<FrameScale> frames;
                         for (int n = 0; n < batch; ++n)
                           frames.push_back({.from = memory + result + n * one_frame,
                                             .to = memory + scaled + n * one_half});
                         scale_frames(frames, width, height, to_width, to_height, stream);
                       }});
}

void ImageLaunches::add_filters(const std::string& area, int side_x, int side_y,
                                std::ptrdiff_t from, std::ptrdiff_t to, std::ptrdiff_t mask) {
  const int batch = pictures_.batch;
  const std::ptrdiff_t bytes = picture_bytes(batch, side_x, side_y, 3), yuv = yuv_;
  const auto source = [=](std::uint8_t* memory) {
    return interleaved<const std::uint8_t>(memory + from, batch, side_y, side_x);
  };
  const auto result = [=](std::uint8_t* memory) {
    return interleaved(memory + to, batch, side_y, side_x);
  };
  const auto add = [&](const char* operation, std::ptrdiff_t moved, auto enqueue) {
    launches_.push_back({operation, area, moved, enqueue});
  };
  add("gaussian blur 5x5", 2 * bytes, [=](std::uint8_t* memory, Stream stream) {
    gaussian_blur(source(memory), result(memory), 5, 1.0, stream);
  });
  add("unsharp mask", 2 * bytes, [=](std::uint8_t* memory, Stream stream) {
    unsharp_mask(source(memory), result(memory), Unsharp{}, stream);
  });
  add("blend", 3 * bytes + bytes / 3, [=](std::uint8_t* memory, Stream stream) {
    blend(result(memory), source(memory),
          interleaved<const std::uint8_t>(memory + mask, batch, side_y, side_x, 1), stream);
  });
  const std::ptrdiff_t half = bytes + bytes / 2;
  add("bgr to i420", half, [=](std::uint8_t* memory, Stream stream) {
    bgr_to_i420(source(memory), memory + yuv, stream);
  });
  add("bgr to nv12", half, [=](std::uint8_t* memory, Stream stream) {
    bgr_to_nv12(source(memory), memory + yuv, stream);
  });
  add("i420 to bgr", half, [=](std::uint8_t* memory, Stream stream) {
    i420_to_bgr(memory + yuv, result(memory), stream);
  });
  add("nv12 to bgr", half, [=](std::uint8_t* memory, Stream stream) {
    nv12_to_bgr(memory + yuv, result(memory), stream);
  });
}

void ImageLaunches::fill(std::span<std::uint8_t> memory) const {
  NAVTALK_CHECK(memory.size() >= bytes_);
  std::uint32_t state = 1;
  for (std::uint8_t& byte : memory) {
    state = state * 1664525U + 1013904223U;
    byte = static_cast<std::uint8_t>(state >> 24);
  }
  const std::ptrdiff_t halves = picture_bytes(pictures_.batch, k_generated, k_generated, 3);
  for (std::ptrdiff_t i = 0; i < halves; ++i) {  // sign and fraction stay; magnitudes from 0.5 to 1
    std::uint8_t& high = memory[static_cast<std::size_t>(decoded_ + 2 * i + 1)];
    high = static_cast<std::uint8_t>((high & 0x83U) | 0x38U);
  }
}

}  // namespace navtalk::cuda
