// How a large file is divided. Plain values.
#pragma once

#include <cstddef>
#include <cstdint>

namespace navtalk {

struct RangeSizes {
  std::uint64_t range = std::uint64_t{8} << 20;   // bytes that a connection is given at once
  std::uint64_t ahead = std::uint64_t{64} << 20;  // bytes that may be behind the written ones
};

struct RangeOptions {
  RangeSizes sizes{};
  std::size_t to_one_source = 4, connections = 8;  // at most
};

}  // namespace navtalk
