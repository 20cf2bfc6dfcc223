// A batch as passes of sizes that a device has recorded.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace navtalk {

struct BatchPart {
  std::int64_t begin = 0;   // of the batch
  std::int64_t images = 0;  // of the batch
  std::int64_t size = 0;    // of the pass; what it has more than `images` is thrown away

  bool operator==(const BatchPart&) const = default;
};

// The cheapest way to compute `images` in passes of these sizes (rising, above 0), where a pass costs its size and `pass_cost`, both in
// images. Whole passes of the largest size first.
std::vector<BatchPart> batch_parts(std::int64_t images, std::span<const std::int64_t> sizes,
                                   double pass_cost);

}  // namespace navtalk
