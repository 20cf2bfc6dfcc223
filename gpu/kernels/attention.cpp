#include "gpu/kernels/attention.h"

#include <vector>

#include "gpu/kernels/parallel.h"

namespace navtalk::kernels {
namespace {

std::int64_t padded(std::int64_t n) { return (n + 15) / 16 * 16; }

}  // namespace

void attention(const Attention& task) {
  const std::int64_t units = task.images * task.heads;
  const std::int64_t key_floats = task.width * padded(task.keys);
  const std::int64_t value_floats = task.keys * padded(task.width);
  std::vector<float> packed(static_cast<std::size_t>(units * (key_floats + value_floats)));
  const auto head = [&](std::int64_t unit) {
    float* keys = packed.data() + unit * (key_floats + value_floats);
    return PackedHead{keys, keys + key_floats};
  };
  parallel_for(units, key_floats, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t unit = begin; unit < end; ++unit)
      pack_head(task, unit / task.heads, unit % task.heads, head(unit));
  });

  const std::int64_t blocks = (task.queries + k_query_rows - 1) / k_query_rows;
  const std::int64_t scratch = k_query_rows * (padded(task.keys) + task.width);
  parallel_for(units * blocks, scratch, [&](std::int64_t begin, std::int64_t end) {
    std::vector<float> scores(static_cast<std::size_t>(scratch));
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t unit = i / blocks, first = i % blocks * k_query_rows;
      attend_rows(task, unit / task.heads, unit % task.heads, head(unit), first,
                  std::min(k_query_rows, task.queries - first), scores.data());
    }
  });
}

}  // namespace navtalk::kernels
