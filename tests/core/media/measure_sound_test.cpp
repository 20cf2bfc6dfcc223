#include "core/media/measure_sound.h"

#include <boost/crc.hpp>
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>

#include "core/files/whole_file.h"
#include "core/media/decode/audio.h"
#include "core/process/run.h"
#include "tests/core/files/scratch_folder.h"
#include "tests/core/media/wav.h"

using namespace navtalk;
using namespace navtalk::test;

namespace {

std::variant<MeasuredSound, RefusedSound> measured(const std::string& bytes,
                                                   const MediaLimits& limits = {}) {
  return measure_sound(memory_file(bytes), "the speech", limits);
}

std::string rule_of(const std::variant<MeasuredSound, RefusedSound>& found) {
  const auto* const refused = std::get_if<RefusedSound>(&found);
  return refused != nullptr ? refused->rule : "none";
}

std::string seconds_of_silence(int seconds, const WavFormat& format) {
  const auto samples = static_cast<std::size_t>(seconds) * format.rate_hz * format.channels;
  return wav_bytes(format, std::string(samples * format.bits / 8, '\0'));
}

// Silence as FLAC, 14 bytes for 65,535 samples, whose header does not say how many there are. Format: RFC 9639.
class FlacSilence {
 public:
  explicit FlacSilence(int frames) {
    bytes_ = "fLaC";
    bytes_ += '\x80';  // the last block of metadata: STREAMINFO
    put(34, 3);
    put(k_samples, 2), put(k_samples, 2);  // in a frame
    put(0, 3), put(0, 3);                  // bytes of a frame: unknown
    put(48'000U << 12 | 15U << 4, 4);      // rate, one channel, 16 bits, and no number of samples
    put(0, 4);
    bytes_ += std::string(16, '\0');  // no MD5
    for (int frame = 0; frame < frames; ++frame) add_frame(static_cast<unsigned>(frame));
  }
  const std::string& bytes() const { return bytes_; }

 private:
  static constexpr unsigned k_samples = 65'535;

  void put(std::uint32_t value, int size) {
    for (int i = size - 1; i >= 0; --i) bytes_ += static_cast<char>(value >> (8 * i));
  }
  void add_frame(unsigned number) {
    const std::size_t start = bytes_.size();
    put(0xFFF8, 2);
    put(0x7A, 1);  // as many samples as 16 bits say; 48 kHz
    put(0x08, 1);  // one channel, 16 bits
    if (number < 0x80) {
      put(number, 1);
    } else if (number < 0x800) {
      put(0xC0 | number >> 6, 1), put(0x80 | (number & 0x3F), 1);
    } else {
      put(0xE0 | number >> 12, 1), put(0x80 | (number >> 6 & 0x3F), 1),
          put(0x80 | (number & 0x3F), 1);
    }
    put(k_samples - 1, 2);
    boost::crc_optimal<8, 0x07> header;
    header.process_bytes(bytes_.data() + start, bytes_.size() - start);
    put(header.checksum(), 1);
    put(0, 1), put(0, 2);  // a constant subframe, of zeros
    boost::crc_optimal<16, 0x8005> frame;
    frame.process_bytes(bytes_.data() + start, bytes_.size() - start);
    put(frame.checksum(), 2);
  }

  std::string bytes_;
};

}  // namespace

TEST_CASE("sound is measured as it is decoded") {
  const ScratchFolder folder;
  put_tone(folder / "tone.wav", 1.5, {.rate_hz = 44'100, .channels = 2});
  const auto found = measure_sound(open_input(folder / "tone.wav"), "tone", {});
  REQUIRE(std::holds_alternative<MeasuredSound>(found));
  const auto& sound = std::get<MeasuredSound>(found);
  CHECK(sound.codec == "pcm_s16le");
  CHECK(sound.rate_hz == 44'100);
  CHECK(sound.channels == 2);
  CHECK(sound.duration_s == decode_audio(folder / "tone.wav").duration_s());
}

TEST_CASE("what is not sound, or holds none, is refused for its codec") {
  CHECK(rule_of(measured("no sound at all, whatever its name says")) == "codec");
  CHECK(rule_of(measured(std::string(4096, '\0'))) == "codec");
  CHECK(rule_of(measured(wav_bytes({}, ""))) == "codec");
  const float loud = 1e30F;
  CHECK(rule_of(measured(wav_bytes({.bits = 32, .real = true},
                                   sample_bytes(std::vector<float>(100, loud))))) == "codec");
}

TEST_CASE("more than recordings of speech have is refused for its sampling") {
  CHECK(rule_of(measured(seconds_of_silence(1, {.rate_hz = 500'000}))) == "sampling");
  CHECK(rule_of(measured(seconds_of_silence(1, {.channels = 17}))) == "sampling");
}

TEST_CASE("sound beyond the longest duration is refused, also where only decoding tells") {
  CHECK(rule_of(measured(seconds_of_silence(3, {}), {.max_duration_s = 2})) == "duration");
  const FlacSilence hour(2700);
  CHECK(hour.bytes().size() < 50'000);
  const auto bomb = measured(hour.bytes());
  CHECK(rule_of(bomb) == "duration");
  const auto whole = measured(hour.bytes(), {.max_duration_s = 4000});
  REQUIRE(std::holds_alternative<MeasuredSound>(whole));
  CHECK(std::get<MeasuredSound>(whole).codec == "flac");
  CHECK(std::get<MeasuredSound>(whole).duration_s == Approx(2700 * 65'535 / 48'000.0));
}
