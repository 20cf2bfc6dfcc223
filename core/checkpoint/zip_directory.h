// The members of a zip archive: name and place, taken from the central directory and checked
// against each local header. ZIP64 is read; encryption, several disks, duplicate names and
// overlapping members are refused. Nothing is decompressed.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>

namespace navtalk {

struct ZipMember {
  std::span<const std::byte> bytes;  // as they lie in the file
  bool compressed = false;
};
using ZipMembers = std::map<std::string, ZipMember, std::less<>>;

// Error{invalid} says what is wrong.
ZipMembers read_zip_directory(std::span<const std::byte> file);

}  // namespace navtalk
