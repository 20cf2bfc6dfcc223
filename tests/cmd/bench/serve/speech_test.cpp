#include "cmd/bench/serve/speech.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <optional>
#include <string>

#include "core/base/error.h"

namespace navtalk::cmd {
namespace {

struct Wav {
  std::uint16_t coding = 1, channels = 1, bits = 16;
  std::uint32_t rate_hz = 16000;
  std::vector<std::int16_t> samples{1, -2, 300};
  std::optional<std::uint32_t> length{};  // that the file gives for its sound
  std::string before{};                   // a chunk in front of it

  std::vector<std::uint8_t> bytes() const {
    std::string text = "RIFF----WAVE";
    const auto append = [&](auto number) {
      text.append(reinterpret_cast<const char*>(&number), sizeof number);
    };
    text += "fmt ";
    append(std::uint32_t{16});
    append(coding);
    append(channels);
    append(rate_hz);
    append(rate_hz * 2);
    append(std::uint16_t{2});
    append(bits);
    text += before;
    text += "data";
    const std::size_t size = samples.size() * sizeof(std::int16_t);
    append(length.value_or(static_cast<std::uint32_t>(size)));
    text.append(reinterpret_cast<const char*>(samples.data()), size);
    return {text.begin(), text.end()};
  }
};

std::string refusal(const std::vector<std::uint8_t>& bytes) {
  try {
    parse_wav(bytes);
  } catch (const Error& error) {
    CHECK(error.code() == Code::invalid);
    return error.message();
  }
  return "";
}

}  // namespace

TEST_CASE("a WAV file of 16 bits and one channel is read") {
  const Speech speech = parse_wav(Wav{}.bytes());
  CHECK(speech.rate_hz == 16000);
  CHECK(speech.samples == std::vector<std::int16_t>{1, -2, 300});
}

TEST_CASE("chunks that are not sound are skipped, those of odd length with their pad byte") {
  const std::string odd("LIST\x03\0\0\0abc\0", 12);
  CHECK(parse_wav(Wav{.before = odd}.bytes()).samples.size() == 3);
}

TEST_CASE("a length beyond the end, as a program that writes to a pipe leaves it, means the rest") {
  CHECK(parse_wav(Wav{.length = 0x7ffff000}.bytes()).samples.size() == 3);
}

TEST_CASE("sound that a session does not take is refused") {
  CHECK(refusal(Wav{.channels = 2}.bytes()).find("one channel") != std::string::npos);
  CHECK(refusal(Wav{.bits = 8}.bytes()).find("16 bits") != std::string::npos);
  CHECK(refusal(Wav{.coding = 3}.bytes()).find("PCM") != std::string::npos);
  CHECK(refusal(Wav{.rate_hz = 4000}.bytes()).find("4000") != std::string::npos);
  CHECK(refusal(Wav{.samples = {}}.bytes()).find("no sound") != std::string::npos);
  CHECK(refusal({'R', 'I', 'F', 'F'}).find("not a WAV file") != std::string::npos);
}

TEST_CASE("a WAV file cut short at any byte is refused, or has fewer samples") {
  const std::vector<std::uint8_t> whole = Wav{}.bytes();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    try {
      const Speech cut = parse_wav({whole.data(), length});
      CHECK(cut.samples.size() < 3);
    } catch (const Error& error) {
      CHECK(error.code() == Code::invalid);
    }
  }
}

}  // namespace navtalk::cmd
