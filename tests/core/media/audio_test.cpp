#include <fcntl.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <fstream>
#include <future>
#include <limits>
#include <thread>

#include "core/base/unique_fd.h"
#include "core/media/decode/audio.h"
#include "core/media/decode/ogg_end.h"
#include "tests/core/expect_error.h"
#include "tests/core/media/wav.h"
#include "tests/no_descriptors.h"

using namespace navtalk;
using namespace navtalk::test;

namespace {

Audio decoded(const WavFormat& format, const std::string& data) {
  const ScratchFolder folder;
  put(folder / "a.wav", wav_bytes(format, data));
  return decode_audio(folder / "a.wav");
}

// Whether the kernel says that this thread waits for something, as a read does.
bool sleeps(pid_t thread) {
  std::ifstream stat("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string line;
  std::getline(stat, line);
  return line.substr(line.rfind(')') + 1).starts_with(" S");
}

// 24 bits are three bytes, low first.
std::string bytes_24(const std::vector<std::int32_t>& samples) {
  std::string bytes;
  for (std::int32_t sample : samples)
    for (int shift : {0, 8, 16}) bytes += static_cast<char>(sample >> shift & 0xFF);
  return bytes;
}

}  // namespace

TEST_CASE("integer samples are divided by 2^(N-1), exactly") {
  using Samples = std::vector<float>;
  CHECK(decoded({.bits = 8}, sample_bytes<std::uint8_t>({0, 1, 128, 255})).samples ==
        Samples{-1, -127.0F / 128, 0, 127.0F / 128});
  CHECK(decoded({}, sample_bytes<std::int16_t>({-32768, -1, 0, 1, 32767})).samples ==
        Samples{-1, -1.0F / 32768, 0, 1.0F / 32768, 32767.0F / 32768});
  CHECK(decoded({.bits = 24}, bytes_24({-8388608, -1, 0, 1, 8388607})).samples ==
        Samples{-1, -1.0F / 8388608, 0, 1.0F / 8388608, 8388607.0F / 8388608});
  CHECK(decoded({.bits = 32},
                sample_bytes<std::int32_t>({std::numeric_limits<std::int32_t>::min(), 256}))
            .samples == Samples{-1, 256.0F / 2147483648.0F});
  CHECK(decoded({.bits = 32, .real = true}, sample_bytes<float>({-1.5F, 0.1F, 1e-20F})).samples ==
        Samples{-1.5F, 0.1F, 1e-20F});
}

TEST_CASE("channels are averaged in float32") {
  const WavFormat stereo{.rate_hz = 48000, .channels = 2, .bits = 32, .real = true};
  const Audio audio = decoded(stereo, sample_bytes<float>({0.1F, 0.2F, -1.0F, 1.0F}));
  CHECK(audio.rate_hz == 48000);
  CHECK(audio.samples == std::vector<float>{(0.1F + 0.2F) / 2.0F, 0.0F});
  const WavFormat six{.rate_hz = 44100, .channels = 6, .bits = 32, .real = true};
  CHECK(decoded(six, sample_bytes<float>({1, 2, 3, 4, 5, 6})).samples == std::vector<float>{3.5F});
}

TEST_CASE("samples that are not numbers, or far beyond full scale, are refused by name") {
  const ScratchFolder folder;
  const float odd = GENERATE(std::numeric_limits<float>::quiet_NaN(),
                             -std::numeric_limits<float>::infinity(), 1e30F);
  const auto put_samples = [&](const std::vector<float>& samples) {
    put(folder / "a.wav", wav_bytes({.bits = 32, .real = true}, sample_bytes(samples)));
  };
  put_samples({0.5F, 40'000.0F, -1.0F});
  CHECK(decode_audio(folder / "a.wav").samples[1] == 40'000.0F);
  put_samples({0.5F, odd, -1.0F});
  expect_error(Code::invalid, {"a.wav", "samples that are not numbers"},
               [&] { decode_audio(folder / "a.wav"); });
}

TEST_CASE("what is not sound is refused by name") {
  const ScratchFolder folder;
  const auto decode = [&](const char* name) { decode_audio(folder / name); };
  expect_error(Code::not_found, {"no.wav"}, [&] { decode("no.wav"); });
  expect_error(Code::invalid, {"is a directory"}, [&] { decode_audio(folder.path()); });
  put(folder / "empty.wav", "");
  expect_error(Code::invalid, {"empty.wav is empty"}, [&] { decode("empty.wav"); });
  put(folder / "text.wav", "This is a text.\nNothing to hear.\n");
  expect_error(Code::invalid, {"text.wav"}, [&] { decode("text.wav"); });
  put(folder / "silent.wav", wav_bytes({}, ""));
  expect_error(Code::invalid, {"silent.wav"}, [&] { decode("silent.wav"); });
  put(folder / "header.wav", wav_bytes({}, "data").substr(0, 20));
  expect_error(Code::invalid, {"header.wav"}, [&] { decode("header.wav"); });
  // A pipe that nobody writes to: an error, not a wait that no signal ends.
  REQUIRE(::mkfifo((folder / "pipe.wav").c_str(), 0600) == 0);
  expect_error(Code::invalid, {"pipe.wav"}, [&] { decode("pipe.wav"); });
}

TEST_CASE("a name that looks like a protocol or an option is only a name") {
  const ScratchFolder folder;
  for (const char* name :
       {"http:example", "-i.wav", "pipe:0", "a%03d.wav", "concat:a|b", "a\rb.wav"}) {
    CAPTURE(name);
    put_tone(folder / name, 0.01);
    CHECK(decode_audio(folder / name).samples.size() == 160);
  }
}

TEST_CASE("a playlist cannot pull in another file") {
  const ScratchFolder folder;
  put_tone(folder / "tone.wav", 1);
  const std::string tone = (folder / "tone.wav").string();
  put(folder / "list.m3u8",
      "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n" + tone + "\n#EXT-X-ENDLIST\n");
  put(folder / "list.ffconcat", "ffconcat version 1.0\nfile '" + tone + "'\n");
  for (const char* name : {"list.m3u8", "list.ffconcat"}) {
    expect_error(Code::invalid, {name}, [&] { decode_audio(folder / name); });
  }
}

TEST_CASE("sound cut off at its end yields what is there") {
  const ScratchFolder folder;
  put_tone(folder / "tone.wav", 1.0);
  const std::string whole = content(folder / "tone.wav");
  put(folder / "cut.wav", whole.substr(0, 44 + 2 * 5000 + 1));
  CHECK(decode_audio(folder / "tone.wav").damage.empty());
  const Audio cut = decode_audio(folder / "cut.wav");
  CHECK(cut.samples.size() == 5000);
  CHECK_THAT(cut.damage,
             Catch::Contains("cut.wav is damaged: it ends after 0.31 s and should last 1.00 s"));
  CHECK(cut.cut);
  CHECK_FALSE(decode_audio(folder / "tone.wav").cut);
  put(folder / "nearly.wav", whole.substr(0, whole.size() - 2 * 1600));
  CHECK_FALSE(decode_audio(folder / "nearly.wav").cut);
}

TEST_CASE("an Ogg file without its last page is known for cut") {
  const ScratchFolder folder;
  const auto page = [](char flags, const std::string& body) {
    std::string header = "OggS" + std::string(1, '\0') + flags + std::string(20, '\0');
    return header + '\1' + static_cast<char>(body.size()) + body;
  };
  const std::string first = page(2, "the first"), last = page(4, "OggS by chance");
  put(folder / "whole.ogg", first + page(0, "the next") + last);
  put(folder / "cut.ogg", first + page(0, "the next"));
  put(folder / "torn.ogg", first + last.substr(0, last.size() - 1));
  put(folder / "other", "no Ogg at all");
  CHECK_FALSE(media::is_cut_ogg(folder / "whole.ogg"));
  CHECK(media::is_cut_ogg(folder / "cut.ogg"));
  CHECK(media::is_cut_ogg(folder / "torn.ogg"));
  CHECK_FALSE(media::is_cut_ogg(folder / "other"));
}

TEST_CASE("sound whose length nobody wrote down is whole") {
  const ScratchFolder folder;
  put_tone(folder / "tone.wav", 1.0);
  const std::string length =
      GENERATE(std::string("\xff\xff\xff\xff"), std::string("\x00\xf0\xff\x7f", 4),
               std::string("\xdb\xff\xff\x7f"), std::string(4, '\0'));
  std::string piped = content(folder / "tone.wav");
  piped.replace(4, 4, length);   // of the file
  piped.replace(40, 4, length);  // of the samples
  put(folder / "piped.wav", piped);
  const Audio audio = decode_audio(folder / "piped.wav");
  CHECK(audio.samples.size() == 16000);
  CHECK(audio.damage.empty());
  CHECK_FALSE(audio.cut);
}

TEST_CASE("a stop request ends decoding") {
  const ScratchFolder folder;
  put_tone(folder / "tone.wav", 1.0);
  std::stop_source stop;
  stop.request_stop();
  expect_error(Code::interrupted, {}, [&] { decode_audio(folder / "tone.wav", stop.get_token()); });
}

TEST_CASE("resampling gives ceil(n * ratio) samples, the ratio taken first") {
  const auto [from, to, n, expected] = GENERATE(table<int, int, int, int>({
      {48000, 16000, 48000, 16000},
      {44100, 16000, 44100, 16000},
      {24000, 16000, 29, 20},
      {24000, 16000, 1, 1},
      {8000, 16000, 777, 1554},
      {22050, 16000, 22051, 16001},
      {44100, 16000, 1, 1},
      {16000, 16000, 5, 5},
  }));
  CAPTURE(from, to, n);
  const Audio result = resample({.rate_hz = from, .samples = std::vector<float>(n, 0.25F)}, to);
  CHECK(result.rate_hz == to);
  CHECK(static_cast<int>(result.samples.size()) == expected);
}

TEST_CASE("a resampled tone is the tone") {
  const int from = GENERATE(8000, 22050, 24000, 44100, 48000);
  const auto tone = [](int rate, std::size_t n) {
    std::vector<float> samples(n);
    for (std::size_t i = 0; i < n; ++i)
      samples[i] = static_cast<float>(
          0.5 * std::sin(2 * std::numbers::pi * 1000 * static_cast<double>(i) / rate));
    return samples;
  };
  const Audio result =
      resample({.rate_hz = from, .samples = tone(from, static_cast<std::size_t>(from))}, 16000);
  const std::vector<float> expected = tone(16000, result.samples.size());
  double worst = 0;
  for (std::size_t i = 1000; i + 1000 < expected.size(); ++i)
    worst = std::max(worst, std::abs(static_cast<double>(result.samples[i] - expected[i])));
  CHECK(worst < 1e-5);
}

TEST_CASE("nothing can be resampled to or from 0 Hz") {
  expect_error(Code::invalid, {"0 Hz"}, [] { resample({.rate_hz = 0, .samples = {1}}, 16000); });
  expect_error(Code::invalid, {"0 Hz"}, [] { resample({.rate_hz = 16000, .samples = {1}}, 0); });
}

#ifndef __SANITIZE_ADDRESS__
TEST_CASE("a recording that cannot be opened for want of descriptors is not at fault") {
  const ScratchFolder folder;
  put(folder / "a.wav", wav_bytes({}, std::string(2000, 1)));
  CHECK_NOTHROW(decode_audio(folder / "a.wav"));
  const tests::NoDescriptors none;
  expect_error(Code::failed, {"a.wav", "Too many open files"},
               [&] { decode_audio(folder / "a.wav"); });
}
#endif

TEST_CASE("a recording that can be read no further is not at fault") {
  // A terminal whose other end is gone answers reads with EIO, as a broken disk does.
  int master = -1, slave = -1;
  std::array<char, 64> name{};
  REQUIRE(::openpty(&master, &slave, name.data(), nullptr, nullptr) == 0);
  const UniqueFd kept(slave);
  UniqueFd other_end(master);
  termios raw{};
  ::cfmakeraw(&raw);
  REQUIRE(::tcsetattr(slave, TCSANOW, &raw) == 0);
  REQUIRE(::write(master, "RIFF", 4) == 4);
  std::promise<pid_t> reader;
  auto decoding = std::async(std::launch::async, [&] {
    reader.set_value(::gettid());
    return decode_audio(name.data());
  });
  // Only a read that waits gets EIO; one that comes later would get the end of the file.
  const pid_t thread = reader.get_future().get();
  for (int left = 1; left > 0 || !sleeps(thread); std::this_thread::yield()) {
    REQUIRE(::ioctl(slave, FIONREAD, &left) == 0);
    if (decoding.wait_for(std::chrono::seconds(0)) == std::future_status::ready) break;
  }
  other_end.reset();
  expect_error(Code::failed, {name.data(), "Input/output error"}, [&] { decoding.get(); });
}
