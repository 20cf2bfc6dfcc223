// Levels at the threshold below which match_colours() takes a channel for flat.
#pragma once

#include <array>
#include <cstddef>

namespace navtalk::tests {

// Of each column, to be added to a level: a mean of one third, which no double is, and a deviation of exactly one.
inline constexpr std::array<int, 36> k_deviation_of_one = [] {
  std::array<int, 36> rows{};
  for (std::size_t y = 0; y < rows.size(); ++y)
    rows.at(y) = y < 2 ? 2 : y < 22 ? 1 : y < 34 ? -1 : 0;
  return rows;
}();

}  // namespace navtalk::tests
