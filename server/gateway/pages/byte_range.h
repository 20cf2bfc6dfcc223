// The Range header of a request (RFC 9110, 14). Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

namespace navtalk::server {

struct ByteRange {
  std::uint64_t first = 0, last = 0;  // both included
  bool operator==(const ByteRange&) const = default;
};
struct WholeFile {};    // no range, several, or one that is not understood: all of it is sent
struct NoSuchRange {};  // begins behind the end

using WantedBytes = std::variant<WholeFile, NoSuchRange, ByteRange>;

// `header`: "bytes=0-499", "bytes=500-" or "bytes=-500"; "" when there is none.
WantedBytes wanted_bytes(std::string_view header, std::uint64_t size);

}  // namespace navtalk::server
