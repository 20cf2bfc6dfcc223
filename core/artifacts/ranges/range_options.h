// How a large file is divided. Plain values.
#pragma once

#include <cstddef>
#include <cstdint>

namespace navtalk {

struct RangeSizes {
  // Bytes that a connection is given at once, at most.
  std::uint64_t range = std::uint64_t{8} << 20;
  // The same of one that is slow, or of which nothing is known.
  std::uint64_t least = std::uint64_t{1} << 20;
  // Bytes that may be behind the written ones.
  std::uint64_t ahead = std::uint64_t{64} << 20;
};

struct RangeOptions {
  RangeSizes sizes{};
  // At most; the latter also to peers at once.
  std::size_t to_one_source = 4, connections = 8;
};

}  // namespace navtalk
