// Graphs that a device recorded, by what they were recorded for: those used last, as many as a bound allows. Without locks, and
// without knowledge of devices.
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <functional>
#include <iterator>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "core/base/out_of_memory.h"

namespace navtalk {

template <class Key, class Graph>
class GraphCache {
 public:
  struct Limits {
    std::size_t graphs = 16;   // kept, and keys that wait for their first graph
    int runs_before = 1;       // of a key without a graph: a shape that comes once is not worth one
    std::size_t failures = 4;  // after so many nothing is recorded any more
    int runs_between = 1000;   // before the device is asked again that had no memory for a graph
  };
  // Called once for each failure; it must not throw.
  using Tell = std::function<void(const Key&, const std::string& why)>;

  GraphCache(const Limits& limits, Tell tell) : limits_(limits), tell_(std::move(tell)) {}

  // The graph of the key, which `record` (returns a Graph, or throws) makes when the key has been seen often enough; nullptr: run without
  // one. What could not be recorded once is not tried again, but for want of memory. The graph lives at least until the next call.
  template <class Record>
  Graph* find_or_record(const Key& key, const Record& record) {
    if (failed_.contains(key)) return nullptr;
    Kept& kept = used(key);
    if (kept.graph) return &*kept.graph;
    if (failed_.size() >= limits_.failures || kept.runs++ < limits_.runs_before) return nullptr;
    try {
      kept.graph.emplace(record());
      return &*kept.graph;
    } catch (const OutOfMemory& error) {
      kept.runs = limits_.runs_before - limits_.runs_between;
      tell_(key, error.what());
      return nullptr;
    } catch (const std::exception& error) {
      forget(key);
      failed_.insert(key);
      tell_(key, error.what());
      return nullptr;
    }
  }

  // Forgets all graphs, but not what could not be recorded. A key is recorded again as if it were new.
  void clear() {
    places_.clear();
    order_.clear();
  }

  std::size_t graphs() const {
    std::size_t count = 0;
    for (const Kept& kept : order_) count += kept.graph.has_value() ? 1 : 0;
    return count;
  }

 private:
  struct Kept {
    Key key;
    int runs = 0;
    std::optional<Graph> graph{};
  };
  using Place = typename std::list<Kept>::iterator;

  // The one of that key becomes the one used last.
  Kept& used(const Key& key) {
    if (const auto found = places_.find(key); found != places_.end()) {
      order_.splice(order_.begin(), order_, found->second);
      return order_.front();
    }
    while (order_.size() >= std::max<std::size_t>(limits_.graphs, 1)) forget(order_.back().key);
    order_.push_front({.key = key});
    places_.emplace(key, order_.begin());
    return order_.front();
  }

  void forget(const Key& key) {
    const auto found = places_.find(key);
    const Place place = found->second;
    places_.erase(found);
    order_.erase(place);
  }

  const Limits limits_;
  const Tell tell_;
  std::list<Kept> order_{};  // the one used last is first
  std::map<Key, Place> places_{};
  std::set<Key> failed_{};
};

}  // namespace navtalk
