// Masks from MuseTalk's face parsing: the jaw, the lips and the skin of the lower face, not the hair, the
// hand or the collar in front of it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "avatars/faces/mask_source.h"
#include "gpu/model/face_parser.h"

namespace navtalk {

// What of a face is replaced; MuseTalk's names.
enum class ParsingMode {
  jaw,   // lips and skin, which reaches down over the jaw's edge and keeps off the cheeks
  raw,   // lips and skin as they were found
  neck,  // lips, skin and neck
};

struct ParsingOptions {
  ParsingMode mode = ParsingMode::jaw;
  // Of the middle, to the left and to the right of the centre of 512 columns, where the skin is not narrowed: 0 to 256.
  int left_cheek_width = 90, right_cheek_width = 90;
};

// The mask of a parsed crop, 255 or 0, of the same size: 512x512, one channel.
Image parsing_mask(ConstImageView parts, const ParsingOptions& options);

class ParsedMasks : public MaskSource {
 public:
  // `weights`: find_weights(models, Net::bisenet). Errors of FaceParser.
  ParsedMasks(const std::filesystem::path& weights, const ParsingOptions& options,
              const FaceNetOptions& networks = {});

  std::string name() const override;  // "musetalk-jaw", ...
  std::string identity() const override { return identity_; }
  FaceMask mask(ConstImageView frame, const Box& box) override;
  std::size_t batch() const override { return batch_; }
  std::vector<FaceMask> masks(std::span<const FaceInFrame> faces) override;

 private:
  ParsingOptions options_;
  FaceParser parser_;
  std::size_t batch_;
  std::string identity_;
};

}  // namespace navtalk
