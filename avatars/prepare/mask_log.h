// Masks as they are made, one behind the other in one file, so that memory does not grow with them and an interrupted
// preparation goes on behind the last one. Host byte order: the file never leaves the machine.
//
//   region (4 x int32, in the crop box)   pixels (width * height bytes)   region   pixels   ...
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <vector>

#include "avatars/faces/mask.h"

namespace navtalk {

class MaskLog {
 public:
  explicit MaskLog(std::filesystem::path file) : file_(std::move(file)) {}

  // How many of the masks of `faces` are there: the first ones; all, or whole batches of `batch`. What lies behind them, half
  // written, or does not fit the faces, is cut off. Error{failed}.
  std::size_t resume(const std::vector<Box>& faces, std::size_t batch);
  void append(const FaceMask& mask);  // after resume(); Error{failed}

  // Of the masks that are there, in the coordinates of their crop boxes.
  Box region(std::size_t mask) const { return entries_[mask].region; }
  std::size_t count() const { return entries_.size(); }
  bool all_empty() const;  // no mask has a pixel that is not zero

  // All masks become masks.safetensors; one at a time is in memory. Error{failed}.
  void write(const std::filesystem::path& file);

 private:
  struct Entry {
    Box region{};
    bool empty = true;
    std::uintmax_t bytes() const;
  };
  bool read_entry(std::ifstream& in, const Box& face);

  std::filesystem::path file_;
  std::ofstream out_{};
  std::vector<Entry> entries_{};
};

}  // namespace navtalk
