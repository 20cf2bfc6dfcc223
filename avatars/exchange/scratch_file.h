// Values that are collected one after the other and then looked at as one array: in a file, so that memory does not grow
// with them. Not thread-safe.
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>

#include "core/checkpoint/mapped_file.h"

namespace navtalk {

class ScratchFile {
 public:
  // Error{failed} when the file cannot be made.
  explicit ScratchFile(std::filesystem::path file);
  ~ScratchFile();  // removes it
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  // Error{failed} with the system's reason (disk full). Not after map().
  void append(std::span<const std::byte> bytes);
  // All that was appended, mapped into memory as long as this object lives.
  std::span<const std::byte> map();

 private:
  std::filesystem::path file_;
  std::ofstream out_;
  std::optional<MappedFile> mapped_{};
  bool empty_ = true;
};

}  // namespace navtalk
