// A whole file's bytes, read-only. Small files are read; large ones are mapped into memory, and a
// mapped file that shrinks is an error, never a signal that ends the program. Move-only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "core/base/unique_fd.h"

namespace navtalk {

class MappedFile {
 public:
  // Files of up to this size are read: nobody else can change what was read.
  static constexpr std::uint64_t k_read_at_most = std::uint64_t{64} << 20;

  // Error{not_found} when there is no such file, Error{invalid} when it is not a regular file or
  // larger than max_bytes, Error{failed} with the system's reason otherwise. Every message names
  // the path. `read_at_most`: larger files are mapped.
  static MappedFile open(const std::filesystem::path& path, std::uint64_t max_bytes,
                         std::uint64_t read_at_most = k_read_at_most);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  // Of a mapped file that was cut, the lost bytes read as zeros; see check().
  std::span<const std::byte> bytes() const { return bytes_; }
  // After reading: Error{failed} when the file has become shorter since it was opened, so that bytes()
  // may have been zeros.
  void check() const;

 private:
  MappedFile() = default;

  std::span<const std::byte> bytes_{};
  UniqueFd file_{};  // of a mapped file
  std::filesystem::path path_{};
};

}  // namespace navtalk
