// A whole file mapped read-only into memory. Move-only; the bytes stay valid while it lives, as
// long as nobody truncates the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace navtalk {

class MappedFile {
 public:
  // Error{not_found} when there is no such file, Error{invalid} when it is not a regular file or
  // larger than max_bytes, Error{failed} with the system's reason otherwise. Every message names
  // the path.
  static MappedFile open(const std::filesystem::path& path, std::uint64_t max_bytes);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  explicit MappedFile(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::span<const std::byte> bytes_;
};

}  // namespace navtalk
