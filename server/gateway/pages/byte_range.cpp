#include "server/gateway/pages/byte_range.h"

#include <algorithm>

#include "core/text/number.h"

namespace navtalk::server {

WantedBytes wanted_bytes(std::string_view header, std::uint64_t size) {
  constexpr std::string_view k_unit = "bytes=";
  if (!header.starts_with(k_unit) || header.find(',') != std::string_view::npos) return WholeFile{};
  header.remove_prefix(k_unit.size());
  const std::size_t dash = header.find('-');
  if (dash == std::string_view::npos) return WholeFile{};
  const std::string_view begin = header.substr(0, dash), end = header.substr(dash + 1);
  const auto first = parse_number<std::uint64_t>(begin), last = parse_number<std::uint64_t>(end);
  if (begin.empty()) {  // the last so many
    if (!last) return WholeFile{};
    if (*last == 0 || size == 0) return NoSuchRange{};
    return ByteRange{size - std::min(*last, size), size - 1};
  }
  if (!first || (!last && !end.empty()) || (last && *last < *first)) return WholeFile{};
  if (*first >= size) return NoSuchRange{};
  return ByteRange{*first, std::min(last.value_or(size - 1), size - 1)};
}

}  // namespace navtalk::server
