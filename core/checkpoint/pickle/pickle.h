// A Python pickle of plain values, opened for reading and never executed: numbers, texts, lists,
// tuples, sets, dicts, numpy scalars and arrays, protocols 2 to 5. Objects of any other class are
// there, but say nothing. Reading is thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include "core/tensor/ndarray.h"

namespace navtalk {

struct PickleGraph;

// A view of one value; valid while its Pickle lives. Lists may contain themselves: whoever descends
// bounds the depth.
class PickleValue {
 public:
  enum class Kind {
    none,
    boolean,
    integer,  // Python's within 64 bits, and numpy's integer scalars
    real,     // float, and numpy's floating scalars
    string,   // UTF-8, perhaps with surrogate escapes
    bytes,
    list,
    tuple,
    set,
    dict,
    array,  // numpy's, of numbers
    other,
  };

  PickleValue(const PickleGraph& graph, std::uint32_t node) : graph_(&graph), node_(node) {}

  Kind kind() const;
  // Each is nullopt for a value of another kind; a boolean is not an integer, an integer is not a
  // real.
  std::optional<bool> boolean() const;
  std::optional<std::int64_t> integer() const;
  std::optional<double> real() const;
  std::optional<std::string_view> string() const;
  std::optional<std::string_view> bytes() const;
  // An array's numbers, row-major; integers() only of an array of integers or booleans.
  std::optional<NdArray<double>> reals() const;
  std::optional<NdArray<std::int64_t>> integers() const;

  // Items of a list, tuple or set, pairs of a dict; 0 for every other kind.
  std::size_t size() const;
  // The item, or the dict's value, at an index below size(); std::out_of_range beyond it.
  PickleValue item(std::size_t index) const;
  // The dict's key at an index.
  PickleValue key(std::size_t index) const;
  // The dict's value under a string key, the last one where it comes twice; nullopt when absent.
  std::optional<PickleValue> find(std::string_view key) const;

 private:
  const PickleGraph* graph_;
  std::uint32_t node_;
};

class Pickle {
 public:
  // Error{not_found} when there is no such file; Error{invalid} names the path, the byte and the
  // cause for a damaged pickle, an unknown opcode, bytes that follow it, or more than 64 MiB.
  static Pickle open(const std::filesystem::path& path);
  Pickle(Pickle&&) noexcept;
  Pickle& operator=(Pickle&&) noexcept;
  ~Pickle();

  PickleValue root() const;

 private:
  struct Impl;
  explicit Pickle(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace navtalk
