// How a large file is divided. Plain values.
#pragma once

#include <cstddef>
#include <cstdint>

namespace navtalk {

struct RangeSizes {
  std::uint64_t range = std::uint64_t{8}
                        << 20;  // bytes that a connection is given at once, at most
  std::uint64_t least = std::uint64_t{1}
                        << 20;  // of one that is slow, or of which nothing is known
  std::uint64_t ahead = std::uint64_t{64} << 20;  // bytes that may be behind the written ones
};

struct RangeOptions {
  RangeSizes sizes{};
  std::size_t to_one_source = 4, connections = 8;  // at most; the latter also to peers at once
};

}  // namespace navtalk
