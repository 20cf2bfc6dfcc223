// "did you mean ...": the known word nearest to what was typed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace navtalk {

// The smallest number of insertions, deletions, replacements and swaps of neighbours between two
// words.
std::size_t edit_distance(std::string_view a, std::string_view b);
// The nearest of `known` (the first among equals); nullopt when none is near enough to be a slip.
std::optional<std::string> suggest(std::string_view typed, const std::vector<std::string>& known);
// " (did you mean 'infer'?)", or nothing.
std::string did_you_mean(std::string_view typed, const std::vector<std::string>& known);

}  // namespace navtalk
