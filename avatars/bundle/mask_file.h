// masks.safetensors: the masks of an avatar, each once. docs/avatar-format.md describes it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
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

struct MaskSize {
  int width = 0, height = 0;
};
// Mask i becomes the tensor "i", [height, width] U8. Each is asked for in its turn, and is valid until the next one is; its
// rows have no gaps between them. Error{failed}.
void write_masks(const std::filesystem::path& file, const std::vector<MaskSize>& sizes,
                 const std::function<ConstImageView(std::size_t)>& mask);
void write_masks(const std::filesystem::path& file, const std::vector<Image>& masks);

}  // namespace navtalk
