#include "core/media/encode/opus_stream.h"

#include <array>
#include <catch2/catch.hpp>
#include <cmath>

using namespace navtalk;
using namespace std::chrono_literals;

namespace {

std::vector<std::int16_t> hum(std::size_t samples, int rate_hz) {
  std::vector<std::int16_t> sound(samples);
  for (std::size_t i = 0; i < samples; ++i) {
    sound[i] = static_cast<std::int16_t>(8000 * std::sin(static_cast<double>(i) * 1400 / rate_hz));
  }
  return sound;
}

void append(std::vector<OpusPacket>& all, std::vector<OpusPacket> more) {
  for (OpusPacket& packet : more) all.push_back(std::move(packet));
}

// What RFC 6716 says of a packet's first byte: the configuration's length, and one frame.
int length_ms(const OpusPacket& packet) {
  const int config = packet.bytes.at(0) >> 3;
  if (config < 12) return std::array{10, 20, 40, 60}.at(static_cast<std::size_t>(config % 4));
  if (config < 16) return config % 2 == 0 ? 10 : 20;
  return config % 4 == 3 ? 20 : 0;
}

}  // namespace

TEST_CASE("Opus packets of 20 ms cover a sound of any rate, from before its beginning to its end") {
  const int rate = GENERATE(8000, 16000, 44100, 48000);
  OpusStream stream(rate);
  const auto step = static_cast<std::size_t>(rate / 25);
  const std::vector<std::int16_t> sound = hum(step * 25 + 3, rate);
  std::vector<OpusPacket> packets;
  for (std::size_t at = 0; at < sound.size(); at += step) {
    append(packets, stream.encode(std::span(sound).subspan(at, std::min(step, sound.size() - at))));
    // What has come in is out, but for a packet that is not full and what the resampler needs.
    const auto heard = std::chrono::microseconds(1'000'000 * std::min(at + step, sound.size()) /
                                                 static_cast<std::size_t>(rate));
    CHECK((packets.size() + 2) * 20ms > heard);
  }
  append(packets, stream.finish());
  CHECK(packets.front().time < 0us);
  CHECK(packets.front().time > -10ms);
  CHECK(packets.back().time + 20ms >= 1s);
  CHECK(packets.size() == 51);
  for (std::size_t i = 0; i < packets.size(); ++i) {
    CHECK(packets[i].time == packets[0].time + i * 20ms);
    CHECK(length_ms(packets[i]) == 20);
  }
}

TEST_CASE("a sound after the end of another begins anew, with the same packets") {
  OpusStream stream(16000);
  const std::vector<std::int16_t> sound = hum(3200, 16000);
  CHECK(stream.finish().empty());
  std::vector<std::vector<OpusPacket>> twice(2);
  for (std::vector<OpusPacket>& packets : twice) {
    packets = stream.encode(sound);
    append(packets, stream.finish());
  }
  REQUIRE(twice[0].size() == twice[1].size());
  for (std::size_t i = 0; i < twice[0].size(); ++i) {
    CHECK(twice[0][i].time == twice[1][i].time);
    CHECK(twice[0][i].bytes == twice[1][i].bytes);
  }
}

TEST_CASE("silence needs less than a voice") {
  OpusStream stream(16000);
  const auto size_of = [&](const std::vector<std::int16_t>& sound) {
    std::vector<OpusPacket> packets = stream.encode(sound);
    append(packets, stream.finish());
    std::size_t bytes = 0;
    for (const OpusPacket& packet : packets) bytes += packet.bytes.size();
    return bytes;
  };
  CHECK(size_of(hum(16000, 16000)) > 2 * size_of(std::vector<std::int16_t>(16000)));
}
