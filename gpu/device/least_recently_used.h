// Values that are costly to make again: those used last, as many as a budget of bytes holds. Without locks.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <utility>

namespace navtalk {

template <class Key, class Value, class Less = std::less<Key>>
class LeastRecentlyUsed {
 public:
  explicit LeastRecentlyUsed(std::size_t budget_bytes) : budget_(budget_bytes) {}

  // A copy of the value, which now is the one used last; nullopt where it is not kept.
  std::optional<Value> find(const Key& key) {
    const auto found = places_.find(key);
    if (found == places_.end()) return std::nullopt;
    order_.splice(order_.begin(), order_, found->second);
    return found->second->value;
  }

  // Keeps the value in place of an older one of that key, and drops those used longest ago until all fit. One that is larger than
  // the whole budget is not kept, and then nothing else is dropped.
  void keep(const Key& key, Value value, std::size_t bytes) {
    if (const auto old = places_.find(key); old != places_.end()) drop(old->second);
    if (bytes > budget_) return;
    while (bytes_ + bytes > budget_) drop(std::prev(order_.end()));
    order_.push_front({key, std::move(value), bytes});
    places_.emplace(key, order_.begin());
    bytes_ += bytes;
  }

  // Drops those used longest ago until all fit into the new budget.
  void limit(std::size_t budget_bytes) {
    budget_ = budget_bytes;
    while (bytes_ > budget_) drop(std::prev(order_.end()));
  }

  std::size_t bytes() const { return bytes_; }
  std::size_t count() const { return places_.size(); }

 private:
  struct Kept {
    Key key;
    Value value;
    std::size_t bytes = 0;
  };
  using Place = typename std::list<Kept>::iterator;

  void drop(Place place) {
    bytes_ -= place->bytes;
    places_.erase(place->key);
    order_.erase(place);
  }

  std::size_t budget_, bytes_ = 0;
  std::list<Kept> order_{};  // the one used last is first
  std::map<Key, Place, Less> places_{};
};

}  // namespace navtalk
