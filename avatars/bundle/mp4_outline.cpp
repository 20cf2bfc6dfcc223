// An MP4 file is a row of boxes, each a size (4 bytes, big-endian, that counts itself), a name and
// content, which may be boxes again. The path to a track's tables:
//
//   moov ── trak ─┬─ mdia ─┬─ hdlr   what kind of track
//                 │        └─ minf ── stbl ─┬─ stsd   codec, picture size, H.264's profile
//                 └─ edts                   ├─ stsz   the size of every sample
//                                           ├─ stsc   samples in each chunk, by runs of chunks
//                                           ├─ stco   where the chunks begin (co64: in 8 bytes)
//                                           └─ stss   the samples that are key frames; none: all
#include "avatars/bundle/mp4_outline.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <span>
#include <string_view>
#include <vector>

#include "avatars/bundle/avatar_info.h"

namespace navtalk {
namespace {

constexpr std::size_t k_max_index = std::size_t{64} << 20;

// Thrown and caught in this file alone: the file is not plain.
struct NotPlain {};

class Mp4Box {
 public:
  explicit Mp4Box(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  std::size_t size() const { return bytes_.size(); }
  std::uint64_t number(std::size_t at, std::size_t size) const {
    if (at > bytes_.size() || size > bytes_.size() - at) throw NotPlain();
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) value = value << 8 | bytes_[at + i];
    return value;
  }
  std::string_view name(std::size_t at) const {
    number(at, 4);
    return {reinterpret_cast<const char*>(bytes_.data()) + at, 4};
  }
  // The content of every inner box of that name; the boxes begin at `from`.
  std::vector<Mp4Box> all(std::string_view wanted, std::size_t from = 0) const {
    std::vector<Mp4Box> found;
    for (std::size_t at = from; at < bytes_.size();) {
      const std::uint64_t length = number(at, 4);
      if (length < 8 || length > bytes_.size() - at) throw NotPlain();
      if (name(at + 4) == wanted) found.emplace_back(bytes_.subspan(at + 8, length - 8));
      at += length;
    }
    return found;
  }
  Mp4Box one(std::string_view wanted, std::size_t from = 0) const {
    const std::vector<Mp4Box> found = all(wanted, from);
    if (found.size() != 1) throw NotPlain();
    return found.front();
  }

 private:
  std::span<const std::uint8_t> bytes_;
};

// The content of the one moov. Every box of the file must end inside it.
std::vector<std::uint8_t> read_index(std::ifstream& file, std::uint64_t file_size) {
  std::vector<std::uint8_t> index;
  std::uint8_t header[16];
  for (std::uint64_t at = 0; at < file_size;) {
    file.seekg(static_cast<std::streamoff>(at));
    const std::size_t size = std::min<std::uint64_t>(sizeof header, file_size - at);
    // iostream wants char; the header holds the same bytes.
    if (!file.read(reinterpret_cast<char*>(header), static_cast<std::streamsize>(size)))
      throw NotPlain();
    const Mp4Box box(std::span(header, size));
    const bool wide = box.number(0, 4) == 1;
    const std::uint64_t length = wide ? box.number(8, 8) : box.number(0, 4);
    if (length < (wide ? 16 : 8) || length > file_size - at || box.name(4) == "moof")
      throw NotPlain();
    if (box.name(4) == "moov") {
      if (!index.empty() || wide || length > k_max_index) throw NotPlain();
      index.resize(length - 8);
      file.seekg(static_cast<std::streamoff>(at + 8));
      if (!file.read(reinterpret_cast<char*>(index.data()),
                     static_cast<std::streamsize>(index.size())))
        throw NotPlain();
    }
    at += length;
  }
  return index;
}

Mp4Box video_tables(const Mp4Box& moov) {
  std::vector<Mp4Box> found;
  for (const Mp4Box& track : moov.all("trak")) {
    const Mp4Box media = track.one("mdia");
    if (media.one("hdlr").name(8) == "vide") found.push_back(media.one("minf").one("stbl"));
  }
  if (found.size() != 1 || !moov.all("mvex").empty()) throw NotPlain();
  return found.front();
}

// avc1: 78 bytes, with the size of the picture at 24, then avcC: version, profile, ...
void read_description(const Mp4Box& tables, Mp4Outline& outline) {
  const Mp4Box entry = tables.one("stsd").one("avc1", 8);
  outline.width = static_cast<int>(entry.number(24, 2));
  outline.height = static_cast<int>(entry.number(26, 2));
  const std::uint64_t profile = entry.one("avcC", 78).number(1, 1);
  const bool eight_bit_420 = profile == 66 || profile == 77 || profile == 88 || profile == 100;
  outline.rgb = profile == 244;
  if (!eight_bit_420 && !outline.rgb) throw NotPlain();
}

std::vector<std::uint64_t> chunk_positions(const Mp4Box& tables) {
  const bool wide = tables.all("stco").empty();
  const Mp4Box table = tables.one(wide ? "co64" : "stco");
  const std::size_t each = wide ? 8 : 4;
  if (table.number(4, 4) > (table.size() - 8) / each) throw NotPlain();
  std::vector<std::uint64_t> positions(table.number(4, 4));
  for (std::size_t i = 0; i < positions.size(); ++i)
    positions[i] = table.number(8 + i * each, each);
  return positions;
}

// How many samples lie inside the file; NotPlain when one does not.
std::int64_t count_samples(const Mp4Box& tables, std::uint64_t file_size) {
  const Mp4Box sizes = tables.one("stsz"), runs = tables.one("stsc");
  const std::uint64_t same_size = sizes.number(4, 4), count = sizes.number(8, 4);
  const std::vector<std::uint64_t> chunks = chunk_positions(tables);
  if (count > k_max_avatar_frames) throw NotPlain();
  std::uint64_t sample = 0, run = 0;
  for (std::size_t chunk = 0; chunk < chunks.size(); ++chunk) {
    // A run: its first chunk, counted from one; samples in each chunk; which description.
    while (run + 1 < runs.number(4, 4) && runs.number(8 + (run + 1) * 12, 4) <= chunk + 1) ++run;
    std::uint64_t end = chunks[chunk];
    for (std::uint64_t i = runs.number(8 + run * 12 + 4, 4); i > 0; --i, ++sample) {
      const std::uint64_t size = same_size != 0 ? same_size : sizes.number(12 + sample * 4, 4);
      if (sample >= count || size == 0 || end > file_size || size > file_size - end)
        throw NotPlain();
      end += size;
    }
  }
  if (sample != count) throw NotPlain();
  return static_cast<std::int64_t>(count);
}

bool begins_with_key_frame(const Mp4Box& tables) {
  const std::vector<Mp4Box> keys = tables.all("stss");
  return keys.empty() ||
         (keys.size() == 1 && keys[0].number(4, 4) > 0 && keys[0].number(8, 4) == 1);
}

}  // namespace

std::optional<Mp4Outline> mp4_outline(const std::filesystem::path& path) {
  std::error_code fault;
  const std::uint64_t size = std::filesystem::file_size(path, fault);
  std::ifstream file(path, std::ios::binary);
  if (fault || !file) return std::nullopt;
  try {
    const std::vector<std::uint8_t> index = read_index(file, size);
    const Mp4Box tables = video_tables(Mp4Box(index));
    Mp4Outline outline{.frames = count_samples(tables, size)};
    read_description(tables, outline);
    if (outline.frames == 0 || !begins_with_key_frame(tables)) return std::nullopt;
    return outline;
  } catch (const NotPlain&) {
    return std::nullopt;
  }
}

}  // namespace navtalk
