#include "core/media/decode/picture/webp_codes.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "core/base/error.h"

// The bitstream is that of the WebP lossless specification. A group's number is the red and green of a
// pixel of the "entropy image". Copies and the colour cache repeat pixels, so that the highest number is
// among those that are written out, and no picture is put together here.
namespace navtalk::media {
namespace {

using WebpBytes = std::span<const std::uint8_t>;

[[noreturn]] void broken_codes() { throw Error(Code::invalid, "its data are broken"); }

// From the lowest bit on.
class WebpBits {
 public:
  explicit WebpBits(WebpBytes bytes) : bytes_(bytes) {}

  std::size_t bit() {
    if (at_ / 8 >= bytes_.size()) broken_codes();
    const unsigned byte = bytes_[at_ / 8];
    return byte >> (at_++ % 8) & 1U;
  }
  std::size_t take(std::size_t count) {
    std::size_t value = 0;
    for (std::size_t i = 0; i < count; ++i) value |= bit() << i;
    return value;
  }

 private:
  WebpBytes bytes_;
  std::size_t at_ = 0;
};

// Symbols in the order of their codes.
class PrefixCode {
 public:
  static PrefixCode read(WebpBits& bits, std::size_t alphabet) {
    return bits.bit() == 1 ? read_simple(bits) : read_lengths(bits, alphabet);
  }

  std::size_t next(WebpBits& bits) const {
    if (symbols_.size() == 1) return symbols_[0];  // takes no bit
    std::size_t code = 0, first = 0, index = 0;
    for (const std::size_t count : count_) {
      code |= bits.bit();
      if (code < first + count) return symbols_[index + code - first];
      index += count;
      first = (first + count) * 2;
      code *= 2;
    }
    broken_codes();
  }

 private:
  static constexpr std::size_t k_longest = 15;

  static PrefixCode read_simple(WebpBits& bits) {
    PrefixCode code;
    const bool two = bits.bit() == 1;
    const std::size_t width = bits.bit() == 1 ? 8 : 1;
    code.symbols_.push_back(bits.take(width));
    if (two) code.symbols_.push_back(bits.take(8));
    code.count_[0] = code.symbols_.size();
    return code;
  }

  // A length of 0: the symbol has no code.
  static PrefixCode of_lengths(const std::vector<std::size_t>& lengths) {
    PrefixCode code;
    std::size_t taken = 0;  // of all codes of the longest length
    for (std::size_t length = 1; length <= k_longest; ++length) {
      for (std::size_t symbol = 0; symbol < lengths.size(); ++symbol) {
        if (lengths[symbol] != length) continue;
        code.symbols_.push_back(symbol);
        ++code.count_[length - 1];
        taken += std::size_t{1} << (k_longest - length);
      }
    }
    const bool complete = taken == std::size_t{1} << k_longest;
    if (code.symbols_.empty() || (code.symbols_.size() > 1 && !complete)) broken_codes();
    return code;
  }

  static PrefixCode read_lengths(WebpBits& bits, std::size_t alphabet) {
    constexpr std::array<std::size_t, 19> k_order = {17, 18, 0, 1,  2,  3,  4,  5,  16, 6,
                                                     7,  8,  9, 10, 11, 12, 13, 14, 15};
    std::vector<std::size_t> of_codes(k_order.size(), 0);
    const std::size_t given = 4 + bits.take(4);
    for (std::size_t i = 0; i < given; ++i) of_codes[k_order[i]] = bits.take(3);
    const PrefixCode code = of_lengths(of_codes);
    std::size_t left = alphabet;
    if (bits.bit() == 1) {
      const std::size_t width = 2 + 2 * bits.take(3);
      left = 2 + bits.take(width);
    }
    std::vector<std::size_t> lengths;
    std::size_t before = 8;
    while (lengths.size() < alphabet && left-- > 0) {
      const std::size_t symbol = code.next(bits);
      if (symbol < 16) {
        lengths.push_back(symbol);
        if (symbol != 0) before = symbol;
        continue;
      }
      std::size_t repeats = 0;
      if (symbol == 16) repeats = 3 + bits.take(2);
      if (symbol == 17) repeats = 3 + bits.take(3);
      if (symbol == 18) repeats = 11 + bits.take(7);
      if (repeats > alphabet - lengths.size()) broken_codes();
      lengths.insert(lengths.end(), repeats, symbol == 16 ? before : 0);
    }
    return of_lengths(lengths);
  }

  std::vector<std::size_t> symbols_;
  std::array<std::size_t, k_longest> count_{};  // by length, from 1 on
};

struct Area {
  std::size_t width = 0, height = 0;
  std::size_t pixels() const { return width * height; }
  // In squares of 2^bits pixels a side.
  Area in_squares(std::size_t bits) const {
    const std::size_t more = (std::size_t{1} << bits) - 1;
    return {(width + more) >> bits, (height + more) >> bits};
  }
};

// 0 where there is no cache.
std::size_t read_cache_size(WebpBits& bits) {
  return bits.bit() == 1 ? std::size_t{1} << bits.take(4) : 0;
}

// What a symbol of a length or a distance stands for.
std::size_t read_number(WebpBits& bits, std::size_t symbol) {
  if (symbol < 4) return symbol + 1;
  const std::size_t more = (symbol - 2) / 2;
  return ((2 + symbol % 2) << more) + bits.take(more) + 1;
}

// Reads one of the pictures that describe how the picture itself is coded; the highest red and green of
// its pixels as one number.
std::size_t read_small_picture(WebpBits& bits, const Area& area) {
  constexpr std::size_t k_values = 256, k_lengths = 24, k_distances = 40;
  const std::size_t cache = read_cache_size(bits);
  const PrefixCode green = PrefixCode::read(bits, k_values + k_lengths + cache);
  const PrefixCode red = PrefixCode::read(bits, k_values);
  const PrefixCode blue = PrefixCode::read(bits, k_values);
  const PrefixCode alpha = PrefixCode::read(bits, k_values);
  const PrefixCode distance = PrefixCode::read(bits, k_distances);
  std::size_t highest = 0;
  for (std::size_t pixel = 0; pixel < area.pixels();) {
    const std::size_t symbol = green.next(bits);
    if (symbol < k_values) {
      highest = std::max(highest, red.next(bits) << 8 | symbol);
      blue.next(bits);
      alpha.next(bits);
      ++pixel;
    } else if (symbol < k_values + k_lengths) {
      pixel += read_number(bits, symbol - k_values);
      read_number(bits, distance.next(bits));
    } else {
      ++pixel;  // of the cache
    }
  }
  return highest;
}

// By a palette several pixels become one. After one that does, FFmpeg's versions differ in which
// width counts: `narrows` says so.
int picture_groups(WebpBytes picture, bool narrows) {
  enum Transform : std::size_t { predictor, colour, subtract_green, palette };
  WebpBits bits(picture);
  constexpr std::size_t k_mark = 0x2F, k_side_bits = 14;
  if (bits.take(8) != k_mark) broken_codes();
  Area area;
  area.width = bits.take(k_side_bits) + 1;
  area.height = bits.take(k_side_bits) + 1;
  bits.take(1 + 3);  // whether it has alpha; version
  Area packed = area;
  while (bits.bit() == 1) {
    const std::size_t transform = bits.take(2);
    if (transform == predictor || transform == colour) {
      const std::size_t square = bits.take(3) + 2;
      read_small_picture(bits, (narrows ? packed : area).in_squares(square));
    } else if (transform == palette) {
      const std::size_t colours = bits.take(8) + 1;
      read_small_picture(bits, {colours, 1});
      const std::size_t width_bits = colours <= 2 ? 3 : colours <= 4 ? 2 : colours <= 16 ? 1 : 0;
      packed.width = area.in_squares(width_bits).width;
    }
  }
  read_cache_size(bits);
  if (bits.bit() == 0) return 1;
  const std::size_t square = bits.take(3) + 2;
  return static_cast<int>(read_small_picture(bits, packed.in_squares(square))) + 1;
}

// Error{invalid} only where neither of the two can be read.
int picture_groups(WebpBytes picture) {
  int other = 0;
  try {
    other = picture_groups(picture, false);
  } catch (const Error&) {
    return picture_groups(picture, true);
  }
  try {
    return std::max(other, picture_groups(picture, true));
  } catch (const Error&) {
    return other;
  }
}

}  // namespace

int webp_code_groups(WebpBytes file) {
  constexpr std::size_t k_header = 12, k_name_and_length = 8;
  int groups = 0;
  for (std::size_t at = k_header; at + k_name_and_length <= file.size();) {
    const std::string_view name(reinterpret_cast<const char*>(file.data()) + at, 4);
    const std::size_t length = file[at + 4] | std::size_t{file[at + 5]} << 8 |
                               std::size_t{file[at + 6]} << 16 | std::size_t{file[at + 7]} << 24;
    const std::size_t begin = at + k_name_and_length;
    const std::size_t data = std::min(length, file.size() - begin);
    if (name == "VP8L") groups = std::max(groups, picture_groups(file.subspan(begin, data)));
    at = begin + data + data % 2;
  }
  return groups;
}

}  // namespace navtalk::media
