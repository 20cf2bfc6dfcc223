// Media from people who are not trusted: what names other files, and what is small but describes much.
#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <new>

#include "core/media/decode/audio.h"
#include "core/media/decode/indexed_video.h"
#include "core/media/decode/open_media.h"
#include "core/media/decode/stream_decoder.h"
#include "core/media/decode/video_reader.h"
#include "core/media/encode/sound_file.h"
#include "core/media/encode/stream_copy.h"
#include "core/media/encode/video_writer.h"
#include "core/media/image_file.h"
#include "tests/core/expect_error.h"
#include "tests/core/media/wav.h"
#include "tests/core/memory_limit.h"

using namespace navtalk;
using namespace navtalk::test;

namespace {

void put_video(const std::filesystem::path& path, int width, int height, int frames) {
  VideoWriter writer({.path = path, .width = width, .height = height, .fps = 25});
  const Image black(width, height);
  for (int t = 0; t < frames; ++t) writer.write(black.view());
  writer.finish();
}

}  // namespace

TEST_CASE("a playlist is no video, whatever it is called and whatever it names") {
  const ScratchFolder folder;
  put_video(folder / "secret.mp4", 64, 48, 5);
  const std::string name = (folder / "secret.mp4").string();
  const std::string playlists[] = {
      "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-MEDIA-SEQUENCE:0\n#EXTINF:1,\n" + name +
          "\n#EXT-X-ENDLIST\n",
      "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nsecret.mp4\n#EXT-X-ENDLIST\n",
      "ffconcat version 1.0\nfile secret.mp4\n",
      "ffconcat version 1.0\nfile '" + name + "'\n",
      "<?xml version=\"1.0\"?><MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\"><Period><BaseURL>" +
          name + "</BaseURL></Period></MPD>\n",
      "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video 9 RTP/AVP 96\n"};
  for (const std::string& text : playlists) {
    for (const char* clip : {"clip.mp4", "clip.m3u8", "clip.mpd"}) {
      CAPTURE(text, clip);
      put(folder / clip, text);
      expect_error(Code::invalid, {clip},
                   [&] { copy_video_stream(folder / clip, folder / "copy.mp4", 25); });
      CHECK_FALSE(std::filesystem::exists(folder / "copy.mp4"));
      expect_error(Code::invalid, {clip}, [&] { VideoReader::open(folder / clip); });
      expect_error(Code::invalid, {clip}, [&] { decode_audio(folder / clip); });
    }
  }
}

TEST_CASE("a picture of more pixels than allowed is refused before it is decoded") {
  const ScratchFolder folder;
  write_png(folder / "large.png", Image(200, 100).view());
  CHECK(read_image(folder / "large.png", {.max_pixels = 20'000}).width == 200);
  expect_error(Code::invalid, {"large.png", "megapixels (media.max_megapixels)"},
               [&] { read_image(folder / "large.png", {.max_pixels = 19'999}); });
  // Its decoder refuses it, so that no memory is taken for its pixels.
  write_png(folder / "bomb.png", Image(2000, 2000).view());
  expect_error(Code::invalid, {"bomb.png", "megapixels (media.max_megapixels)"},
               [&] { read_image(folder / "bomb.png", {.max_pixels = 1'000'000}); });
}

TEST_CASE(
    "a video of more pixels or of a longer time than allowed is refused by the limit's name") {
  const ScratchFolder folder;
  put_video(folder / "clip.mp4", 64, 48, 50);
  const auto read = [&](const MediaLimits& limits) {
    VideoReader reader = VideoReader::open(folder / "clip.mp4", {}, limits);
    while (reader.next()) continue;
  };
  const auto copy = [&](const MediaLimits& limits) {
    copy_video_stream(folder / "clip.mp4", folder / "copy.mp4", 25, limits);
  };
  const auto index = [&](const MediaLimits& limits) {
    IndexedVideo::open(folder / "clip.mp4", {.limits = limits}).check_all();
  };
  const MediaLimits exact{.max_pixels = 64 * 48, .max_duration_s = 2};
  CHECK_NOTHROW(read(exact));
  CHECK_NOTHROW(copy(exact));
  CHECK_NOTHROW(index(exact));
  const MediaLimits narrow{.max_pixels = 64 * 48 - 1}, brief{.max_duration_s = 1.9};
  expect_error(Code::invalid, {"clip.mp4", "max_megapixels"}, [&] { read(narrow); });
  expect_error(Code::invalid, {"clip.mp4", "max_megapixels"}, [&] { copy(narrow); });
  expect_error(Code::invalid, {"clip.mp4", "max_megapixels"}, [&] { index(narrow); });
  expect_error(Code::invalid, {"clip.mp4", "max_duration_s"}, [&] { index(brief); });
  expect_error(Code::invalid, {"clip.mp4", "max_duration_s"}, [&] { read(brief); });
  expect_error(Code::invalid, {"clip.mp4", "max_duration_s"}, [&] { copy(brief); });
}

TEST_CASE(
    "sound that lasts longer than allowed is refused, also where its header does not say so") {
  const ScratchFolder folder;
  put_tone(folder / "tone.wav", 1.0);
  CHECK(decode_audio(folder / "tone.wav", {}, {.max_duration_s = 1.0}).duration_s() == 1.0);
  const auto refused = [&](const char* name) {
    expect_error(Code::invalid, {name, "media.max_duration_s"},
                 [&] { decode_audio(folder / name, {}, {.max_duration_s = 0.5}); });
  };
  refused("tone.wav");
  // A header whose length says "not known", as of a recording that was piped.
  std::string bytes = content(folder / "tone.wav");
  for (const std::size_t length : {bytes.find("RIFF") + 4, bytes.find("data") + 4})
    bytes.replace(length, 4, "\xFF\xFF\xFF\xFF");
  put(folder / "piped.wav", bytes);
  refused("piped.wav");
}

TEST_CASE("sound that is taken into a file keeps the same limits as sound that is listened to") {
  const ScratchFolder folder;
  put_tone(folder / "tone.wav", 1.0);
  const auto into_video = [&](double max_duration_s) {
    VideoWriter writer({.path = folder / "clip.mp4",
                        .width = 64,
                        .height = 48,
                        .audio = folder / "tone.wav",
                        .audio_limits = {.max_duration_s = max_duration_s}});
    for (int t = 0; t < 25; ++t) writer.write(Image(64, 48).view());
    writer.finish();
  };
  const auto into_sound = [&](double max_duration_s) {
    write_sound_file({.source = folder / "tone.wav",
                      .output = folder / "copy.wav",
                      .duration_s = 1,
                      .limits = {.max_duration_s = max_duration_s}});
  };
  CHECK_NOTHROW(into_video(1));
  CHECK_NOTHROW(into_sound(1));
  expect_error(Code::invalid, {"tone.wav", "media.max_duration_s"}, [&] { into_video(0.5); });
  expect_error(Code::invalid, {"tone.wav", "media.max_duration_s"}, [&] { into_sound(0.5); });
}

TEST_CASE("an input is not at fault where there is no memory to decode it") {
  const ScratchFolder folder;
  put_tone(folder / "tone.wav", 60, {});
  media::StreamDecoder decoder({.path = folder / "tone.wav", .type = AVMEDIA_TYPE_AUDIO});
  const media::FramePtr frame = media::make_frame();
  REQUIRE(decoder.next(*frame));
  const auto decode_all = [&] {
    while (decoder.next(*frame)) {
    }
  };
  // As where nothing is left.
  av_max_alloc(1);
  expect_error(Code::failed, {"memory", "tone.wav"}, decode_all);
  media::bound_blocks({});
  decode_all();
}

TEST_CASE("where memory is lacking is told from blocks that an input may not take") {
  media::bound_blocks({.max_pixels = 60'000'000});  // no earlier test has left so much
  CHECK_NOTHROW(media::throw_if_no_memory(AVERROR(ENOMEM), "tone.wav"));
  CHECK_NOTHROW(media::throw_if_no_memory(AVERROR_INVALIDDATA, "tone.wav"));
  if (k_limits_memory) {
    CHECK(fits_into(8 << 20, [] {
      // RLIMIT_AS is what a process that judges speech has.
      const rlim_t most = memory_of_this_process("VmSize") + (8 << 20);
      const rlimit limit{most, most};
      ::setrlimit(RLIMIT_AS, &limit);
      try {
        media::throw_if_no_memory(AVERROR(ENOMEM), "tone.wav");
      } catch (const std::bad_alloc&) {
        return true;
      }
      return false;
    }));
  }
  media::bound_blocks({});
}

TEST_CASE("a text that says that it is gigabytes long takes no memory") {
  const ScratchFolder folder;
  std::string bytes = wav_bytes({}, "");
  const std::string list("LIST\0\0\0\x70INFOISFT\0\0\0\x60text", 24);
  bytes.insert(bytes.size() - 8, list);  // before the samples
  put(folder / "bomb.wav", bytes);
  const auto most_kib = [] {
    rusage use = {};
    ::getrusage(RUSAGE_SELF, &use);
    return use.ru_maxrss;
  };
  const long before = most_kib();
  expect_error(Code::invalid, {"bomb.wav"},
               [&] { decode_audio(folder / "bomb.wav", {}, {.max_pixels = 1000}); });
  CHECK(most_kib() - before < 512 * 1024);
}
