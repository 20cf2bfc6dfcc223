// Id<Tag>: text that names one thing of one kind, so that a GPU's id cannot be passed for a
// lease's. Empty means none.
#pragma once

#include <compare>
#include <functional>
#include <string>

namespace navtalk {

template <class Tag>
struct Id {
  std::string text;

  bool empty() const { return text.empty(); }
  friend auto operator<=>(const Id&, const Id&) = default;
};

// 32 lower-case hexadecimal digits from the system's random source: unique without coordination.
// Error{failed} when the system gives no random bytes.
std::string random_id();

}  // namespace navtalk

template <class Tag>
struct std::hash<navtalk::Id<Tag>> {
  std::size_t operator()(const navtalk::Id<Tag>& id) const noexcept {
    return std::hash<std::string>{}(id.text);
  }
};
