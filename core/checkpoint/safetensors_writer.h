// Writes a safetensors file; tensors keep the order in which they are added. Data starts 64-byte
// aligned.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/checkpoint/checkpoint.h"

namespace navtalk {

class SafetensorsWriter {
 public:
  // `data` must stay alive until write().
  void add(std::string name, DType dtype, Shape shape, std::span<const std::byte> data);
  void add_metadata(std::string key, std::string value);
  // Writes the file whole; Error{failed} with the path and the system's reason (disk full, not
  // writable).
  void write(const std::filesystem::path& path) const;

 private:
  struct Entry {
    TensorInfo info;
    std::span<const std::byte> data;
  };
  std::vector<Entry> entries_;
  std::unordered_set<std::string> names_;
  std::map<std::string, std::string> metadata_;
};

}  // namespace navtalk
