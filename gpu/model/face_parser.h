// Face parsing (BiSeNet), loaded and ready: which part of a face each pixel of a picture belongs to. One thread at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "core/tensor/image.h"
#include "core/tensor/ndarray.h"
#include "gpu/model/face_net_options.h"
#include "gpu/nets/net_config.h"

namespace navtalk {

// What the classes mean that masks are made of.
enum class FacePart : std::uint8_t {
  skin = 1,
  nose = 10,
  mouth = 11,
  upper_lip = 12,
  lower_lip = 13,
  neck = 14
};

class FaceParser {
 public:
  // `file`: find_weights(models, Net::bisenet). Error{invalid} names a missing, surplus or mis-shaped tensor.
  // Error{invalid} for a number format that the device lacks.
  explicit FaceParser(const std::filesystem::path& file, const FaceNetOptions& options = {});
  FaceParser(FaceParser&&) noexcept;
  FaceParser& operator=(FaceParser&&) noexcept;
  ~FaceParser();

  // BGR of any size, made 512x512 as Pillow does -> scores [19,512,512]. Error{invalid} when they
  // are not finite.
  NdArray<float> scores(ConstImageView picture) const;
  // The same, as the class of each pixel: 512x512, one channel.
  Image parts(ConstImageView picture) const;
  // Of several pictures, which go through the net together; scores are those of each alone to within rounding.
  std::vector<NdArray<float>> scores(std::span<const ConstImageView> pictures) const;
  std::vector<Image> parts(std::span<const ConstImageView> pictures) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The class with the highest score, the first of equals: [19,H,W] to WxH, one channel.
Image best_parts(const NdArray<float>& scores);

}  // namespace navtalk
