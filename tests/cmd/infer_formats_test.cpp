// Formats of what `navtalk infer` writes: by ending, folders, standard output.
#include <catch2/catch.hpp>

#include "tests/cmd/fast_avatar.h"
#include "tests/cmd/shell.h"
#include "tests/temporary_directory.h"

using navtalk::tests::contains;
using navtalk::tests::k_make_fast;
using navtalk::tests::k_probe;
using navtalk::tests::k_say_fast;
using navtalk::tests::Ran;
using navtalk::tests::shell;
using navtalk::tests::TemporaryDirectory;

TEST_CASE("the ending of --output names the format, and others are refused with the list") {
  const TemporaryDirectory top;
  REQUIRE(shell(k_make_fast, top.path()).status == 0);
  const auto streams = [&](const std::string& name) {
    const Ran ran = shell(k_say_fast + "--fps 10 --size 64x48 -o " + name, top.path());
    CAPTURE(name, ran.err);
    CHECK(ran.status == 0);
    return shell(k_probe + name, top.path()).out;
  };
  CHECK(streams("a.mp4").starts_with("h264|64|48|10/1|10\naac|"));
  CHECK(contains(streams("a.mov"), "h264|64|48"));
  CHECK(contains(streams("a.mkv"), "h264|64|48"));
  CHECK(contains(streams("a.webm"), "vp9|64|48"));
  CHECK(contains(shell(k_probe + "a.webm", top.path()).out, "opus"));
  CHECK(streams("a.gif") == "gif|64|48|10/1|10\n");
  CHECK(contains(streams("a.webp"), "webp"));
  for (const char* name : {"a.avi", "a", "a.MP3"}) {
    const Ran ran = shell(k_say_fast + "-o " + name, top.path());
    CHECK(ran.status == 2);
    CHECK(contains(ran.err, ".mp4, .mov, .mkv, .webm, .gif, .webp"));
  }
}

TEST_CASE("a folder gets the pictures and the sound") {
  const TemporaryDirectory top;
  const Ran ran = shell(k_make_fast + k_say_fast + "--fps 10 -o both/\nls both", top.path());
  CAPTURE(ran.err);
  CHECK(ran.status == 0);
  CHECK(contains(ran.out, "00000000.png\n"));
  CHECK(contains(ran.out, "00000009.png\nsound.wav\n"));
  CHECK(contains(
      shell("ffprobe -loglevel error -show_entries format=duration both/sound.wav", top.path()).out,
      "duration=1.000"));
}

TEST_CASE("standard output gets a video that can be read while it is written") {
  const TemporaryDirectory top;
  const Ran ran = shell(k_make_fast + k_say_fast + "--fps 10 -o - | cat > piped.mp4\n" + k_probe +
                            "piped.mp4; grep -aq moof piped.mp4 && echo in fragments",
                        top.path());
  CAPTURE(ran.err);
  CHECK(contains(ran.out, "h264|96|96|10/1|10\naac"));
  CHECK(contains(ran.out, "in fragments"));
  CHECK(shell(k_say_fast + "-o - --json > x", top.path()).status == 2);
  const Ran terminal = shell("script -qec '" + k_say_fast + "-o -' /dev/null", top.path());
  CHECK(terminal.status == 2);
  CHECK(contains(terminal.out, "standard output is a terminal"));
}

TEST_CASE("a quality or a rate that the format does not have is refused") {
  const TemporaryDirectory top;
  REQUIRE(shell(k_make_fast, top.path()).status == 0);
  const auto refused = [&](const std::string& options, const std::string& why) {
    const Ran ran = shell(k_say_fast + options, top.path());
    CAPTURE(options, ran.err);
    CHECK(ran.status == 2);
    CHECK(contains(ran.err, why));
  };
  refused("--crf 20 -o a.gif", "--crf and --bitrate are for");
  refused("--bitrate 200 -o a.webp", "--crf and --bitrate are for");
  refused("--crf 20 --frames f", "--crf and --bitrate are for");
  refused("--crf 52 -o a.mp4", "--crf 52: H.264 has 0 to 51");
  refused("-o a.gif", "60 frames per second are more than a .gif has: give --fps 50 or less");
}
