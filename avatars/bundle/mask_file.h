// masks.safetensors: the masks of an avatar, each once. docs/avatar-format.md describes it.
#pragma once

#include <filesystem>
#include <vector>

#include "avatars/bundle/faces.h"
#include "core/checkpoint/checkpoint.h"
#include "core/tensor/image.h"

namespace navtalk {

// Thread-safe.
class MaskFile {
 public:
  // Error{not_found}; Error{invalid} with the file and the tensor when a mask that a face names is
  // missing or does not have its region's size.
  MaskFile(const std::filesystem::path& file, const Faces& faces);

  // Error{failed} when the file was cut meanwhile.
  ConstImageView at(int mask) const {
    file_.check();
    return views_[static_cast<std::size_t>(mask)];
  }

 private:
  Checkpoint file_;
  std::vector<ConstImageView> views_;  // into file_
};

// Mask i becomes the tensor "i", [height, width] U8. The views are without gaps between their rows.
// Error{failed}.
void write_masks(const std::filesystem::path& file, const std::vector<Image>& masks);
void write_masks(const std::filesystem::path& file, const std::vector<ConstImageView>& masks);

}  // namespace navtalk
