#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <csignal>
#include <cstdlib>

#include "core/files/partial_path.h"
#include "core/media/decode/audio.h"
#include "core/media/decode/video_reader.h"
#include "core/media/encode/video_writer.h"
#include "tests/core/expect_error.h"
#include "tests/core/media/wav.h"

using namespace navtalk;
using namespace navtalk::test;

namespace {

// A smooth picture that drifts with t, and whose mean blue tells t.
Image test_picture(int width, int height, int t) {
  Image image(width, height);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      std::uint8_t* pixel = image.view().at(x, y);
      pixel[0] = static_cast<std::uint8_t>(40 + 3 * t);
      pixel[1] = static_cast<std::uint8_t>(128 + 80 * std::sin(0.05 * (x + 2 * t)));
      pixel[2] = static_cast<std::uint8_t>(128 + 80 * std::sin(0.04 * (y - t)));
    }
  }
  return image;
}

struct Clip {
  int width = 64, height = 48, frames = 30;
  FrameRate fps = 25;
  std::optional<std::filesystem::path> audio = {};
};

void write_clip(const std::filesystem::path& path, const Clip& clip) {
  VideoWriter writer({.path = path,
                      .width = clip.width,
                      .height = clip.height,
                      .fps = clip.fps,
                      .audio = clip.audio});
  for (int t = 0; t < clip.frames; ++t)
    writer.write(test_picture(clip.width, clip.height, t).view());
  writer.finish();
}

std::vector<VideoFrame> read_clip(const std::filesystem::path& path) {
  VideoReader reader = VideoReader::open(path);
  std::vector<VideoFrame> frames;
  while (std::optional<VideoFrame> frame = reader.next()) frames.push_back(std::move(*frame));
  return frames;
}

double psnr(const Image& a, const Image& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.pixels.size(); ++i) {
    const double difference = static_cast<double>(a.pixels[i]) - b.pixels[i];
    sum += difference * difference;
  }
  return 10 * std::log10(255.0 * 255.0 * static_cast<double>(a.pixels.size()) / (sum + 1e-9));
}

Image padded(const Image& image, int width, int height) {
  Image result(width, height);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const auto* from =
          image.view().at(std::min(x, image.width - 1), std::min(y, image.height - 1));
      std::copy_n(from, 3, result.view().at(x, y));
    }
  }
  return result;
}

}  // namespace

TEST_CASE("every frame that is written is read back, in order, on its time") {
  const ScratchFolder folder;
  const Clip clip =
      GENERATE(Clip{}, Clip{.width = 33, .height = 17}, Clip{.frames = 1},
               Clip{.width = 2, .height = 2, .frames = 3},
               Clip{.width = 1, .height = 1, .frames = 2}, Clip{.fps = 30},
               Clip{.frames = 61, .fps = {30000, 1001}}, Clip{.frames = 61, .fps = {24000, 1001}},
               Clip{.width = 640, .height = 360, .frames = 60, .fps = 1});
  CAPTURE(clip.width, clip.height, clip.frames, text(clip.fps));
  write_clip(folder / "clip.mp4", clip);

  const VideoInfo info = VideoReader::open(folder / "clip.mp4").info();
  CHECK(info.width == clip.width + clip.width % 2);
  CHECK(info.height == clip.height + clip.height % 2);
  CHECK(info.rate == clip.fps);
  CHECK(info.duration_s == Approx(clip.fps.seconds(clip.frames)).margin(1e-3));

  const std::vector<VideoFrame> frames = read_clip(folder / "clip.mp4");
  REQUIRE(frames.size() == static_cast<std::size_t>(clip.frames));
  for (int t = 0; t < clip.frames; ++t) {
    CAPTURE(t);
    CHECK(frames[t].time_s == Approx(clip.fps.seconds(t)).margin(1e-4));
    const Image expected =
        padded(test_picture(clip.width, clip.height, t), info.width, info.height);
    CHECK(psnr(frames[t].image, expected) > 35);
  }
}

TEST_CASE("the sound starts with the picture and ends with it") {
  const ScratchFolder folder;
  const double audio_s = GENERATE(2.0, 0.3, 1.2, 5.0);
  const WavFormat format = GENERATE(WavFormat{}, WavFormat{.rate_hz = 48000, .channels = 2},
                                    WavFormat{.rate_hz = 37800}, WavFormat{.rate_hz = 8000});
  CAPTURE(audio_s, format.rate_hz, format.channels);
  put_tone(folder / "tone.wav", audio_s, format);
  const Clip clip{.frames = 30, .audio = folder / "tone.wav"};
  write_clip(folder / "clip.mp4", clip);

  CHECK(read_clip(folder / "clip.mp4").size() == 30);
  const Audio sound = decode_audio(folder / "clip.mp4");
  const bool aac_has_rate = format.rate_hz != 37800;
  CHECK(sound.rate_hz == (aac_has_rate ? format.rate_hz : 44100));
  CHECK(std::abs(sound.duration_s() - 1.2) <= 1024.0 / sound.rate_hz);

  // In step with the tone: the phase against a sine that starts at 0 stays near 0.
  const double sounding_s = std::min(audio_s, 1.2);
  double in_phase = 0, quadrature = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(sounding_s * sound.rate_hz); ++i) {
    const double phase = 2 * std::numbers::pi * 440 * static_cast<double>(i) / sound.rate_hz;
    in_phase += std::sin(phase) * static_cast<double>(sound.samples[i]);
    quadrature += std::cos(phase) * static_cast<double>(sound.samples[i]);
  }
  const double offset_s = std::atan2(quadrature, in_phase) / (2 * std::numbers::pi * 440);
  CHECK(std::abs(offset_s) < 1e-4);
  // A whole period would look the same; silence after the tone must not.
  double loudest_after = 0;
  for (auto i = static_cast<std::size_t>((sounding_s + 0.15) * sound.rate_hz);
       i < sound.samples.size(); ++i)
    loudest_after = std::max(loudest_after, std::abs(static_cast<double>(sound.samples[i])));
  CHECK(loudest_after < 0.02);
}

TEST_CASE("a clip that cannot be made is refused by name") {
  const ScratchFolder folder;
  const auto open = [&](VideoOptions options) {
    options.path = folder / "clip.mp4";
    VideoWriter writer(options);
  };
  expect_error(Code::invalid, {"0x48"}, [&] { open({.width = 0, .height = 48}); });
  expect_error(Code::invalid, {"0 frames per second"},
               [&] { open({.width = 64, .height = 48, .fps = 0}); });
  expect_error(Code::not_found, {"nothing.wav"},
               [&] { open({.width = 64, .height = 48, .audio = folder / "nothing.wav"}); });
  expect_error(Code::invalid, {"clip.mp4", "without frames"},
               [&] { write_clip(folder / "clip.mp4", {.frames = 0}); });
  expect_error(Code::failed, {"missing/clip.mp4", "No such file or directory"},
               [&] { write_clip(folder / "missing/clip.mp4", {}); });
  expect_error(Code::invalid, {"10x10"}, [&] {
    VideoWriter writer({.path = folder / "clip.mp4", .width = 64, .height = 48});
    writer.write(Image(10, 10).view());
  });
}

TEST_CASE("a full disk is reported with the system's reason") {
  expect_error(Code::failed, {"/dev/full", "No space left on device"},
               [] { write_clip("/dev/full", {.width = 320, .height = 240, .frames = 300}); });
}

TEST_CASE("a writer that is abandoned leaves no clip that looks whole") {
  const ScratchFolder folder;
  {
    VideoWriter writer({.path = folder / "clip.mp4", .width = 64, .height = 48});
    for (int t = 0; t < 20; ++t) writer.write(test_picture(64, 48, t).view());
  }
  expect_error(Code::invalid, {"clip.mp4"}, [&] { read_clip(folder / "clip.mp4"); });
}

TEST_CASE("what is not a video is refused by name") {
  const ScratchFolder folder;
  const auto open = [](const std::filesystem::path& path) { VideoReader::open(path); };
  expect_error(Code::not_found, {"no.mp4", "no such file"}, [&] { open(folder / "no.mp4"); });
  expect_error(Code::invalid, {"is a directory"}, [&] { open(folder.path()); });
  put(folder / "empty.mp4", "");
  expect_error(Code::invalid, {"empty.mp4 is empty"}, [&] { open(folder / "empty.mp4"); });
  const std::string text = "Not a video at all.\nOnly a few lines of text.\n";
  for (const char* name : {"text.mp4", "text.txt", "text.wav", "text"}) {
    put(folder / name, text + text + text);
    expect_error(Code::invalid, {name}, [&] { open(folder / name); });
  }
  put_tone(folder / "tone.wav", 0.1);
  expect_error(Code::invalid, {"tone.wav", "no video stream"}, [&] { open(folder / "tone.wav"); });
}

TEST_CASE("a truncated video is an error that names the file, wherever it was cut") {
  const ScratchFolder folder;
  write_clip(folder / "whole.mp4", {.width = 160, .height = 120, .frames = 50});
  const std::string whole = content(folder / "whole.mp4");
  for (double part : {0.0005, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.999}) {
    CAPTURE(part);
    put(folder / "cut.mp4",
        whole.substr(0, static_cast<std::size_t>(part * static_cast<double>(whole.size()))));
    expect_error(Code::invalid, {"cut.mp4"}, [&] { read_clip(folder / "cut.mp4"); });
  }
  put(folder / "cut.mp4", whole.substr(0, whole.size() - 1));
  expect_error(Code::invalid, {"cut.mp4 is damaged at 1.9"},
               [&] { read_clip(folder / "cut.mp4"); });
}

TEST_CASE("the same input gives the same file, whatever lies in memory") {
  const ScratchFolder folder;
  put_tone(folder / "tone.wav", 1.0);
  const int width = GENERATE(64, 320, 33);
  std::vector<std::string> files;
  for (int garbage : {0, 85, 170, 0}) {
    ::mallopt(M_PERTURB, garbage);
    write_clip(folder / "a.mp4", {.width = width, .audio = folder / "tone.wav"});
    files.push_back(content(folder / "a.mp4"));
  }
  CHECK(std::count(files.begin(), files.end(), files[0]) == 4);
}

TEST_CASE("a damaged video is an error that names file and time, not a wrong picture") {
  const ScratchFolder folder;
  write_clip(folder / "whole.mp4", {.width = 160, .height = 120, .frames = 50});
  std::string bytes = content(folder / "whole.mp4");
  // Behind the index; the middle of the pictures.
  for (std::size_t i = bytes.size() / 2; i < bytes.size() / 2 + 200; ++i) bytes[i] ^= 0x55;
  put(folder / "bad.mp4", bytes);
  expect_error(Code::invalid, {"bad.mp4 is damaged at "}, [&] { read_clip(folder / "bad.mp4"); });
}

TEST_CASE("a limit on file sizes is reported with the system's reason") {
  const ScratchFolder folder;
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{20'000, 20'000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    try {
      PartialPath output({.target = folder / "clip.mp4"});
      write_clip(output.path(), {.width = 640, .height = 360, .frames = 100});
      output.commit();
    } catch (const Error& error) {
      const bool says_why = error.message().find("File too large") != std::string::npos;
      ::_exit(error.code() == Code::failed && says_why ? 0 : 2);
    }
    ::_exit(3);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("a clip without sound has none to decode") {
  const ScratchFolder folder;
  write_clip(folder / "clip.mp4", {});
  expect_error(Code::invalid, {"clip.mp4 has no audio stream"},
               [&] { decode_audio(folder / "clip.mp4"); });
}

namespace {

// Red above, blue below, as 4:2:0 has them.
std::vector<std::uint8_t> two_colours(int width, int height) {
  std::vector<std::uint8_t> nv12;
  const auto half = static_cast<std::size_t>(width) * static_cast<std::size_t>(height) / 2;
  nv12.insert(nv12.end(), half, 63);
  nv12.insert(nv12.end(), half, 32);
  for (const auto& [u, v] : {std::pair(102, 240), std::pair(240, 118)})
    for (std::size_t i = 0; i < half / 4; ++i) {
      nv12.push_back(static_cast<std::uint8_t>(u));
      nv12.push_back(static_cast<std::uint8_t>(v));
    }
  return nv12;
}

}  // namespace

TEST_CASE("pictures that come as NV12 keep their colours") {
  const ScratchFolder folder;
  const std::string name = GENERATE("a.mp4", "a.webm");
  CAPTURE(name);
  const std::vector<std::uint8_t> nv12 = two_colours(64, 48);
  VideoWriter writer({.path = folder / name,
                      .format = video_format(name),
                      .width = 64,
                      .height = 48,
                      .nv12 = true});
  for (int t = 0; t < 3; ++t) writer.write(Nv12View{nv12.data(), 64, 48});
  CHECK_THROWS_AS(writer.write(Nv12View{nv12.data(), 48, 64}), Error);
  writer.finish();
  const std::vector<VideoFrame> frames = read_clip(folder / name);
  REQUIRE(frames.size() == 3);
  for (const VideoFrame& frame : frames) {
    const std::uint8_t* red = frame.image.view().at(30, 10);
    const std::uint8_t* blue = frame.image.view().at(30, 40);
    CHECK(red[2] > 240);
    CHECK(red[0] < 15);
    CHECK(blue[0] > 240);
    CHECK(blue[2] < 15);
  }
}
