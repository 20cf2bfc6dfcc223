// A Range header, behind eight bytes that are the size of the file. A range is within the file; a second, simpler reader finds the
// same one.
#include "server/gateway/pages/byte_range.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "tests/fuzz/expect.h"

namespace {

using namespace navtalk;
using namespace navtalk::server;

// Of decimal digits, and short enough for a number; nullopt otherwise.
std::optional<std::uint64_t> number_of(const std::string& digits) {
  constexpr std::size_t k_surely_fits = 18;
  if (digits.empty() || digits.size() > k_surely_fits) return std::nullopt;
  std::uint64_t number = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return number;
}

// For headers of short numbers in files of some size.
std::optional<ByteRange> simply_read(const std::string& header, std::uint64_t size) {
  const std::size_t dash = header.find('-');
  if (header.rfind("bytes=", 0) != 0 || dash == header.npos || size == 0) return std::nullopt;
  const std::string begin = header.substr(6, dash - 6), end = header.substr(dash + 1);
  const auto first = number_of(begin), last = number_of(end);
  if (begin.empty() && last && *last > 0)
    return ByteRange{*last >= size ? 0 : size - *last, size - 1};
  if (first && *first < size && end.empty()) return ByteRange{*first, size - 1};
  if (first && *first < size && last && *last >= *first)
    return ByteRange{*first, std::min(*last, size - 1)};
  return std::nullopt;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::uint64_t bytes = 0;
  if (size < sizeof bytes) return 0;
  std::memcpy(&bytes, data, sizeof bytes);
  const std::string header(reinterpret_cast<const char*>(data) + sizeof bytes, size - sizeof bytes);
  const WantedBytes wanted = wanted_bytes(header, bytes);
  const auto* range = std::get_if<ByteRange>(&wanted);
  if (range != nullptr) {
    expect(range->first <= range->last && range->last < bytes, "a range is within the file");
    const std::string again =
        "bytes=" + std::to_string(range->first) + "-" + std::to_string(range->last);
    const WantedBytes reread = wanted_bytes(again, bytes);
    expect(std::holds_alternative<ByteRange>(reread) && std::get<ByteRange>(reread) == *range,
           "a range that is written stays the same");
  }
  if (const auto simple = simply_read(header, bytes))
    expect(range != nullptr && *range == *simple, "two readers see the same range");
  return 0;
}
