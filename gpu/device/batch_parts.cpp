#include "gpu/device/batch_parts.h"

#include <algorithm>

#include "core/base/check.h"

namespace navtalk {
namespace {

struct Way {
  double cost = 0;
  std::int64_t first = 0;  // size of the first pass
};

}  // namespace

std::vector<BatchPart> batch_parts(std::int64_t images, std::span<const std::int64_t> sizes,
                                   double pass_cost) {
  NAVTALK_CHECK(images >= 0 && !sizes.empty() && sizes.front() > 0);
  std::vector<BatchPart> parts;
  std::int64_t begin = 0;
  for (; images - begin >= sizes.back(); begin += sizes.back())
    parts.push_back({.begin = begin, .images = sizes.back(), .size = sizes.back()});

  // ways[n]: how the last n images are computed. Of equal ones that with the larger pass first.
  std::vector<Way> ways(static_cast<std::size_t>(images - begin) + 1);
  for (std::size_t n = 1; n < ways.size(); ++n) {
    for (const std::int64_t size : sizes) {
      const std::size_t done = std::min(n, static_cast<std::size_t>(size));
      const double cost = static_cast<double>(size) + pass_cost + ways[n - done].cost;
      if (ways[n].first == 0 || cost <= ways[n].cost) ways[n] = {.cost = cost, .first = size};
    }
  }
  while (begin < images) {
    const std::int64_t size = ways[static_cast<std::size_t>(images - begin)].first;
    const std::int64_t done = std::min(images - begin, size);
    parts.push_back({.begin = begin, .images = done, .size = size});
    begin += done;
  }
  return parts;
}

}  // namespace navtalk
