#include "server/gateway/jobs/speech/plain_wav.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>

using namespace navtalk::server;

namespace {

std::string number(std::uint32_t value, int size) {
  std::string bytes;
  for (int i = 0; i < size; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xFF);
  return bytes;
}

std::string chunk(const std::string& name, const std::string& content) {
  return name + number(static_cast<std::uint32_t>(content.size()), 4) + content +
         std::string(content.size() % 2, '\0');
}

struct Format {
  std::uint32_t tag = 1, channels = 1, rate_hz = 16'000, bits = 16;
  std::uint32_t wrong_rate = 0;  // added to the bytes a second
};

std::string format(const Format& of) {
  const std::uint32_t block = of.channels * of.bits / 8;
  return chunk("fmt ", number(of.tag, 2) + number(of.channels, 2) + number(of.rate_hz, 4) +
                           number(of.rate_hz * block + of.wrong_rate, 4) + number(block, 2) +
                           number(of.bits, 2));
}

std::string wav(const std::string& chunks) {
  return "RIFF" + number(static_cast<std::uint32_t>(4 + chunks.size()), 4) + "WAVE" + chunks;
}

const std::string k_second(32'000, '\1');  // of the usual format

std::optional<double> of(const Format& format_of_it) {
  return plain_wav_seconds(wav(format(format_of_it) + chunk("data", k_second)));
}

}  // namespace

TEST_CASE("a WAV of PCM whose samples end with the file has a known length") {
  CHECK(of({}) == 1.0);
  CHECK(of({.channels = 2}) == 0.5);
  CHECK(of({.rate_hz = 32'000}) == 0.5);
  CHECK(of({.bits = 8}) == 2.0);
  CHECK(plain_wav_seconds(wav(chunk("LIST", "odd") + format({}) + chunk("fact", "1234") +
                              chunk("data", k_second))) == 1.0);
  CHECK(plain_wav_seconds(wav(format({.bits = 8}) + chunk("data", "odd"))) == 3 / 16'000.0);
}

TEST_CASE("every other WAV is left to a decoder") {
  CHECK_FALSE(of({.tag = 3, .bits = 32}));  // floats, which may be no numbers
  CHECK_FALSE(of({.tag = 0xFFFE}));
  CHECK_FALSE(of({.channels = 0}));
  CHECK_FALSE(of({.channels = 9}));
  CHECK_FALSE(of({.rate_hz = 192'001}));
  CHECK_FALSE(of({.rate_hz = 3'999}));
  CHECK_FALSE(of({.bits = 12}));
  CHECK_FALSE(of({.wrong_rate = 1}));
  const std::string whole = wav(format({}) + chunk("data", k_second));
  CHECK_FALSE(plain_wav_seconds(whole.substr(0, whole.size() - 1)));
  CHECK_FALSE(plain_wav_seconds(whole + chunk("data", k_second)));
  CHECK_FALSE(plain_wav_seconds(whole + "more"));
  CHECK_FALSE(plain_wav_seconds(wav(chunk("data", k_second))));
  CHECK_FALSE(plain_wav_seconds(wav(chunk("data", k_second) + format({}))));
  CHECK_FALSE(plain_wav_seconds(wav(format({}) + chunk("data", ""))));
  CHECK_FALSE(plain_wav_seconds(wav(format({}) + chunk("data", "odd"))));
  CHECK_FALSE(plain_wav_seconds(wav(format({}) + format({}) + chunk("data", k_second))));
  CHECK_FALSE(plain_wav_seconds("RIFF"));
  CHECK_FALSE(plain_wav_seconds("RIFX" + whole.substr(4)));
  std::string many;
  for (int i = 0; i < 20; ++i) many += chunk("none", "");
  CHECK_FALSE(plain_wav_seconds(wav(many + format({}) + chunk("data", k_second))));
  // A size beyond the file, which would wrap a number of 32 bits.
  CHECK_FALSE(plain_wav_seconds(wav("none" + number(0xFFFFFFFF, 4) + format({}))));
}

TEST_CASE("a recording that lacks more than a tenth of a second of what its header says is cut") {
  const std::string head = wav(format({}) + chunk("data", k_second)), whole = head;
  CHECK_FALSE(cut_wav(whole));
  CHECK(cut_wav(whole.substr(0, whole.size() - 16'000)) == CutWav{1.0, 0.5});
  CHECK(cut_wav(whole.substr(0, whole.size() - k_second.size())) == CutWav{1.0, 0.0});
  CHECK(cut_wav(whole.substr(0, whole.size() - 3'202)));
  CHECK_FALSE(cut_wav(whole.substr(0, whole.size() - 3'200)));
  // Of any codec; and behind other chunks.
  const std::string floats = wav(chunk("LIST", "odd") + format({.tag = 3, .bits = 32}) +
                                 chunk("data", std::string(64'000, '\1')));
  CHECK(cut_wav(floats.substr(0, floats.size() - 48'000)) == CutWav{1.0, 0.25});
  CHECK_FALSE(cut_wav(whole.substr(0, 20)));
  CHECK_FALSE(cut_wav("no sound"));
}

TEST_CASE("a header that was written before the length was known says nothing of a cut") {
  const std::string before = wav(format({})) + "data";
  const std::string sound = k_second.substr(0, 100);
  for (const std::uint32_t size :
       {0U, 0xFFFFFFFFU, 0xFFFFFFFFU - 36, 0x7FFFFFFFU, 0x80000000U, 0x7FFFFFFFU - 36, 0x7FFFF000U})
    CHECK_FALSE(cut_wav(before + number(size, 4) + sound));
  CHECK(cut_wav(before + number(0x7FFE0000U, 4) + sound));
}
