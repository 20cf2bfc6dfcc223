// Small Vorbis files whose headers describe much memory.
#include <boost/crc.hpp>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "core/media/decode/audio.h"
#include "core/media/decode/video_reader.h"
#include "core/media/decode/vorbis_setup.h"
#include "tests/core/expect_error.h"
#include "tests/core/files/scratch_folder.h"
#include "tests/core/media/packed_bytes.h"
#include "tests/core/memory_limit.h"

using namespace navtalk;
using namespace navtalk::test;

namespace {

std::string vorbis_identification() {
  LowBitText out;
  out.put_text("\1vorbis");
  for (const auto& [value, size] : {std::pair{0, 32},
                                    {1, 8},
                                    {48'000, 32},
                                    {0, 32},
                                    {64'000, 32},
                                    {0, 32},
                                    {8, 4},
                                    {11, 4},
                                    {1, 1}})
    out.put(static_cast<std::uint64_t>(value), static_cast<std::size_t>(size));
  return out.bytes;
}

// `books` codebooks of 2^14 ordered entries that all stand for 16 values of 0.
std::string vorbis_setup(std::size_t books) {
  LowBitText out;
  out.put_text("\5vorbis");
  out.put(books - 1, 8);
  for (std::size_t i = 0; i < books; ++i) {
    for (const auto& [value, size] : {std::pair{0x564342, 24},
                                      {16, 16},
                                      {1 << 14, 24},
                                      {1, 1},
                                      {13, 5},
                                      {1 << 14, 15},
                                      {1, 4},
                                      {0, 32},
                                      {0, 32},
                                      {0, 4},
                                      {0, 1},
                                      {0, 1}})
      out.put(static_cast<std::uint64_t>(value), static_cast<std::size_t>(size));
  }
  // A time, a floor, a residue, a mapping, a mode.
  for (const auto& [value, size] :
       {std::pair{0, 6}, {0, 16}, {0, 6},   {1, 16},  {0, 5}, {0, 2}, {4, 4}, {0, 6},
        {0, 16},         {0, 24}, {16, 24}, {15, 24}, {0, 6}, {0, 8}, {0, 3}, {0, 1},
        {0, 6},          {0, 16}, {0, 1},   {0, 1},   {0, 2}, {0, 8}, {0, 8}, {0, 8},
        {0, 6},          {0, 1},  {0, 16},  {0, 16},  {0, 8}, {1, 1}})
    out.put(static_cast<std::uint64_t>(value), static_cast<std::size_t>(size));
  return out.bytes;
}

std::string ogg_page(unsigned stream, unsigned number, int flags, std::uint64_t position,
                     const std::vector<std::string>& packets) {
  std::string lengths, body;
  for (const std::string& packet : packets) {
    lengths += std::string(packet.size() / 255, '\xFF') + static_cast<char>(packet.size() % 255);
    body += packet;
  }
  std::string page = "OggS" + std::string(1, '\0') + static_cast<char>(flags) +
                     little_endian_text(position, 8) + little_endian_text(stream, 4) +
                     little_endian_text(number, 4) + std::string(4, '\0') +
                     static_cast<char>(lengths.size()) + lengths + body;
  boost::crc_optimal<32, 0x04C11DB7> sum;
  sum.process_bytes(page.data(), page.size());
  return page.replace(22, 4, little_endian_text(sum.checksum(), 4));
}

// Each stream has its setup in its header, or as its first packets.
std::string vorbis_file(unsigned streams, std::size_t books, const std::string& late = "") {
  const std::string comment = "\3vorbis" + std::string(8, '\0') + "\1";
  std::vector<std::string> sound(100, std::string(1, '\0'));
  if (!late.empty()) sound.insert(sound.begin(), {vorbis_identification(), late});
  std::string file;
  for (unsigned i = 1; i <= streams; ++i) file += ogg_page(i, 0, 2, 0, {vorbis_identification()});
  for (unsigned i = 1; i <= streams; ++i)
    file += ogg_page(i, 1, 0, 0, {comment, vorbis_setup(books)});
  for (unsigned i = 1; i <= streams; ++i) file += ogg_page(i, 2, 4, 100 * 128, sound);
  return file;
}

}  // namespace

TEST_CASE("a Vorbis header that describes more than encoders write is refused") {
  const ScratchFolder folder;
  put(folder / "books.ogg", vorbis_file(1, 256));
  expect_error(Code::invalid, {"books.ogg", "Vorbis header"},
               [&] { decode_audio(folder / "books.ogg"); });
  expect_error(Code::invalid, {"books.ogg"}, [&] { VideoReader::open(folder / "books.ogg"); });
  put(folder / "late.ogg", vorbis_file(1, 2, vorbis_setup(256)));
  expect_error(Code::invalid, {"late.ogg", "Vorbis header"},
               [&] { decode_audio(folder / "late.ogg"); });
}

TEST_CASE("the codebooks of a Vorbis header are counted as they are unpacked") {
  const auto bytes = [](const std::string& packet) {
    return media::vorbis_codebook_bytes(
        {reinterpret_cast<const std::uint8_t*>(packet.data()), packet.size()});
  };
  const std::int64_t one = bytes(vorbis_setup(1));
  CHECK(one >= std::int64_t{1} << 20);
  CHECK(bytes(vorbis_setup(7)) == 7 * one);
  CHECK(bytes(vorbis_identification()) == 0);
  CHECK(bytes("\5vorbis\xFF") == 0);
}

TEST_CASE("of several streams of sound one is set up") {
  const ScratchFolder folder;
  put(folder / "many.ogg", vorbis_file(16, 7));
  CHECK(fits_into(std::size_t{48} << 20,
                  [&] { return !decode_audio(folder / "many.ogg").samples.empty(); }));
}
