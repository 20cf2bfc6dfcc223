#include "core/media/decode/mp4_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

namespace navtalk::media {
namespace {

using IndexBytes = std::span<const std::uint8_t>;

// A number of 32 bits, big-endian.
std::int64_t number_at(IndexBytes bytes, std::size_t at) {
  return std::int64_t{bytes[at]} << 24 | bytes[at + 1] << 16 | bytes[at + 2] << 8 | bytes[at + 3];
}

std::string_view name_at(IndexBytes bytes, std::size_t at) {
  return {reinterpret_cast<const char*>(bytes.data()) + at, 4};
}

// Far beyond any limit, and small enough for products and sums of two: the file's own numbers may be anything.
constexpr std::int64_t k_most = std::int64_t{1} << 30;

void add_up(std::int64_t& sum, std::int64_t more) { sum = std::min(k_most, sum + more); }

// The tables of a track, or of what is in no track.
struct Tables {
  std::int64_t samples = 0;        // of tables with a length for each
  std::int64_t equal_samples = 0;  // of tables with one length for all
  std::int64_t edits = 0;          // parts of the longest edit list
  int sound = 0, other = 0;        // handlers
  int times = 0, unit_times = 0;   // tables of times; those in which every sample lasts one unit
  bool packed = false;             // FFmpeg unpacks it, and what it holds is not known before

  // Samples that are numbers, as of PCM, are listed by the chunk.
  std::int64_t listed() const {
    const bool numbers = sound > 0 && other == 0 && times == 1 && unit_times == 1;
    return (samples + (numbers ? 0 : equal_samples)) * (1 + std::min(edits, k_most));
  }
};

// From a table's length on.
constexpr std::size_t k_table = 40;

void add_table(Tables& tables, IndexBytes table) {
  const std::string_view name = name_at(table, 4);
  const std::size_t data = number_at(table, 0) == 1 ? 16 : 8;  // a length of 64 bits stands between
  const std::int64_t first = number_at(table, data + 4), second = number_at(table, data + 8);
  if (name == "stsz") add_up(first == 0 ? tables.samples : tables.equal_samples, second);
  if (name == "stz2") add_up(tables.samples, second);
  if (name == "trun") add_up(tables.samples, first);
  if (name == "elst") tables.edits = std::max(tables.edits, first);
  if (name == "hdlr") ++(name_at(table, data + 8) == "soun" ? tables.sound : tables.other);
  if (name == "stts") {
    ++tables.times;
    if (first == 1 && number_at(table, data + 12) == 1) ++tables.unit_times;
  }
  if (name == "cmov") tables.packed = true;
}

struct Box {
  std::string_view name() const { return name_at(header, 4); }
  std::array<std::uint8_t, 16> header{};
  std::int64_t begin = 0, end = 0;  // of what it holds
};

class Mp4Walk {
 public:
  explicit Mp4Walk(AVIOContext& file) : file_(file) {
    for (std::int64_t at = 0, end = avio_size(&file_); at + 8 <= end;) {
      const Box box = box_at(at, end);
      if (box.name() == "moov") {
        movie(box);
      } else if (box.name() != "mdat") {
        add(tables_in(at, box.end));
      }
      at = box.end;
    }
  }
  std::int64_t samples() const { return samples_; }
  bool packed() const { return packed_; }

 private:
  // As long as what is around it where it does not say, or says what cannot be.
  Box box_at(std::int64_t at, std::int64_t end) {
    Box box{.begin = at + 8, .end = end};
    avio_seek(&file_, at, SEEK_SET);
    if (avio_read(&file_, box.header.data(), 16) < 8) return box;
    std::int64_t length = number_at(box.header, 0);
    if (length == 1) {
      length = number_at(box.header, 8) << 32 | number_at(box.header, 12);
      box.begin = at + 16;
    }
    if (length >= box.begin - at && length <= end - at) box.end = at + length;
    return box;
  }

  void movie(const Box& around) {
    for (std::int64_t at = around.begin; at + 8 <= around.end;) {
      const Box box = box_at(at, around.end);
      add(tables_in(at, box.end));
      at = box.end;
    }
  }

  // FFmpeg takes tables also from within boxes that should not hold any: they are looked for at every
  // byte, and known by a length that can be.
  Tables tables_in(std::int64_t from, std::int64_t end) {
    constexpr std::size_t k_step = 1 << 16;
    std::array<std::uint8_t, k_step + k_table> bytes{};
    Tables tables;
    for (; from + 8 <= end; from += k_step) {
      bytes.fill(0);
      avio_seek(&file_, from, SEEK_SET);
      const auto left = static_cast<std::size_t>(std::min<std::int64_t>(end - from, bytes.size()));
      if (avio_read(&file_, bytes.data(), static_cast<int>(left)) <= 0) break;
      for (std::size_t i = 0; i < std::min(k_step, left); ++i) {
        const std::int64_t length = number_at(bytes, i), room = end - from - std::int64_t(i);
        if (length <= 1 || (length >= 8 && length <= room))
          add_table(tables, IndexBytes(bytes).subspan(i, k_table));
      }
    }
    return tables;
  }

  void add(const Tables& tables) {
    add_up(samples_, tables.listed());
    packed_ = packed_ || tables.packed;
  }

  AVIOContext& file_;
  std::int64_t samples_ = 0;
  bool packed_ = false;
};

}  // namespace

std::int64_t most_index_samples(const MediaLimits& limits) {
  constexpr double k_per_s = 1000;  // pictures and sound, each in several parts
  constexpr std::int64_t k_least = 100'000;
  return std::max(k_least, static_cast<std::int64_t>(k_per_s * limits.max_duration_s));
}

std::string why_index_too_large(AVIOContext& file, const MediaLimits& limits) {
  const Mp4Walk walk(file);
  avio_seek(&file, 0, SEEK_SET);
  if (walk.packed()) return "its index is packed";
  if (walk.samples() <= most_index_samples(limits)) return "";
  return fmt::format("its index names more than {} samples (media.max_duration_s)",
                     most_index_samples(limits));
}

}  // namespace navtalk::media
