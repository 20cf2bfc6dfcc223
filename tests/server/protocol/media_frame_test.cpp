#include "server/protocol/media_frame.h"

#include <catch2/catch.hpp>

using namespace navtalk::server;

TEST_CASE("a media frame begins with 16 bytes, little-endian, as the protocol says") {
  const Frame frame = media_frame({.kind = MediaKind::video,
                                   .flags = media_flag::key | media_flag::discontinuity,
                                   .sequence = 0x01020304,
                                   .time = std::chrono::microseconds(-2)},
                                  "xyz");
  CHECK_FALSE(frame.text);
  CHECK(frame.bytes ==
        std::string("\x03\x05\x00\x00\x04\x03\x02\x01\xfe\xff\xff\xff\xff\xff\xff\xffxyz", 19));
}

TEST_CASE("samples are 16 bits, little-endian, both ways") {
  const std::vector<std::int16_t> samples{1, -2, 32767};
  CHECK(bytes_of(samples) == std::string("\x01\x00\xfe\xff\xff\x7f", 6));
  CHECK(samples_of(bytes_of(samples)) == samples);
}

TEST_CASE("the header of a media frame is read as it was written, and flags are added to it") {
  const MediaHeader written{.kind = MediaKind::opus,
                            .flags = media_flag::speaks,
                            .sequence = 0xfffffffe,
                            .time = std::chrono::hours(30)};
  Frame frame = media_frame(written, "xyz");
  add_flags(frame, media_flag::discontinuity);
  const auto header = media_header(frame.bytes);
  REQUIRE(header);
  CHECK(header->kind == written.kind);
  CHECK(header->flags == (media_flag::speaks | media_flag::discontinuity));
  CHECK(header->sequence == written.sequence);
  CHECK(header->time == written.time);
  CHECK(frame.bytes.substr(16) == "xyz");
}

TEST_CASE("bytes that are too short, or of an unknown kind, have no header") {
  CHECK_FALSE(media_header(""));
  CHECK_FALSE(media_header(std::string(15, '\1')));
  CHECK(media_header(std::string(16, '\1')));
  CHECK_FALSE(media_header(std::string(16, '\0')));
  CHECK_FALSE(media_header(std::string(16, '\4')));
}
