// Files for MuseTalk's Python: lists of boxes as a pickle, and a list of tensors as torch.save writes it. Stateless.
//
//   latents.pt   a zip archive, nothing compressed: latents/data.pkl, the list; latents/data/0, all values; latents/version
//
// All tensors are views of one storage, as torch.load may find them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <vector>

#include "core/tensor/ndarray.h"

namespace navtalk {

// [[a, b, c, d], ...] in protocol 2. Error{failed}.
void write_pickled_rows(const std::filesystem::path& file,
                        const std::vector<std::array<int, 4>>& rows);

struct TorchList {
  Shape shape;                     // of each tensor
  std::vector<std::size_t> order;  // the list: which tensor stands at each place
  std::size_t tensors = 0;
  // The values of one tensor, row-major; called twice for each, in order.
  std::function<std::vector<float>(std::size_t tensor)> values;
};
// In single precision, on the CPU. Error{invalid} for more than 4 GiB, Error{failed}.
void write_torch_list(const std::filesystem::path& file, const TorchList& list);

}  // namespace navtalk
