// Writes a safetensors file; tensors keep the order in which they are added. Data starts 64-byte
// aligned.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/checkpoint/checkpoint.h"

namespace navtalk {

class SafetensorsWriter {
 public:
  // Asked for again and again by write() until all bytes of a tensor are there, so that they need not be in memory
  // together. A piece is valid until the next one is asked for, and has at least one byte.
  using Pieces = std::function<std::span<const std::byte>()>;

  // `data` must stay alive until write().
  void add(std::string name, DType dtype, Shape shape, std::span<const std::byte> data);
  void add_in_pieces(std::string name, DType dtype, Shape shape, Pieces next);
  void add_metadata(std::string key, std::string value);
  // Writes the file whole; Error{failed} with the path and the system's reason (disk full, not
  // writable).
  void write(const std::filesystem::path& path) const;

 private:
  struct Entry {
    TensorInfo info;
    std::size_t size;  // bytes
    Pieces next;
  };
  std::vector<Entry> entries_;
  std::unordered_set<std::string> names_;
  std::map<std::string, std::string> metadata_;
};

}  // namespace navtalk
