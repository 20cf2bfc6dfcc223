// What a hub's repository holds, from the answer of its API:
//
//   [{"type": "directory", "path": "unet", "oid": "...", "size": 0},
//    {"type": "file", "path": "unet/config.json", "oid": GIT BLOB ID, "size": 713},
//    {"type": "file", "path": "unet/unet.pth", "oid": ..., "size": 3400000000,
//     "lfs": {"oid": SHA-256, "size": 3400000000}}]
//
// Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace navtalk {

struct HubFile {
  std::string path{};
  std::uint64_t bytes = 0;
  std::string sha256{};  // of a file that Git LFS has; empty: `git_id` is its
  std::string git_id{};  // 40 lower-case hexadecimal digits
};

// The files that a model can have: empty ones, and hidden ones like .gitattributes, are left out, and so are
// those whose names a store cannot hold. Error{invalid} for what is not such an answer, for a path that leads out
// of the folder, and for sums that are none.
std::vector<HubFile> parse_hub_listing(std::string_view json);

// The id that git gives to a file with this content.
std::string git_blob_id(std::string_view bytes);

}  // namespace navtalk
