// What `navtalk infer` writes: formats by ending, rates, sizes, standard output.
#include <catch2/catch.hpp>
#include <filesystem>

#include "tests/cmd/shell.h"
#include "tests/temporary_directory.h"

using navtalk::tests::contains;
using navtalk::tests::Ran;
using navtalk::tests::shell;
using navtalk::tests::TemporaryDirectory;

namespace {

// a.wav, a second of a tone; an avatar of 60 pictures a second whose shade tells the time, with a face
// in the first one only, so that all others are shown untouched.
const std::string k_make_fast = R"(
ffmpeg -loglevel error -f lavfi -i sine=frequency=300:duration=1 -ar 16000 a.wav
mkdir p
ffmpeg -loglevel error -f lavfi -i "nullsrc=s=96x96:r=60,geq=lum='16+3*N':cb=128:cr=128,noise=alls=30" \
  -frames:v 60 p/%02d.png
python3 -c 'print("{\"boxes\": [[20,20,70,70]" + ", null" * 59 + "]}")' > boxes.json
navtalk avatar prepare --images p --face-boxes boxes.json --no-latents --fps 60 --loop --output fast 2> /dev/null
)";
const std::string k_say_fast = "navtalk infer --avatar ./fast --audio a.wav --progress none ";
const std::string k_probe =
    "ffprobe -loglevel error -show_entries "
    "stream=codec_name,width,height,r_frame_rate,nb_read_frames "
    "-count_frames -of compact=nokey=1:print_section=0 ";

}  // namespace

TEST_CASE(
    "a video has the avatar's rate unless another is asked for, and its head moves by the clock") {
  const TemporaryDirectory top;
  REQUIRE(shell(k_make_fast, top.path()).status == 0);
  const Ran own = shell(k_say_fast + "--frames own --json", top.path());
  CAPTURE(own.err);
  CHECK(contains(own.out, "\"frames\":60,\"fps\":60"));
  const Ran slow = shell(k_say_fast + "--frames slow --fps 30000/1001 --json", top.path());
  CHECK(contains(slow.out, "\"frames\":29,\"fps\":\"30000/1001\""));
  const auto same = [&](const std::string& one, const std::string& other) {
    return shell("cmp " + one + " " + other, top.path()).status == 0;
  };
  CHECK(same("own/00000040.png", "slow/00000020.png"));
  CHECK(same("own/00000056.png", "slow/00000028.png"));
  CHECK_FALSE(same("own/00000020.png", "slow/00000020.png"));
}

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

TEST_CASE("a part of the speech is rendered, with the sound of that part") {
  const TemporaryDirectory top;
  const Ran ran =
      shell(k_make_fast + k_say_fast + "--fps 10 --start 0.25 --duration 0.5 -o a.mp4 --json",
            top.path());
  CAPTURE(ran.err);
  CHECK(contains(ran.out, "\"frames\":5,"));
  CHECK(contains(shell(k_say_fast + "--start 2 -o b.mp4", top.path()).err, "a.wav lasts 1.00 s"));
}

TEST_CASE("a lower quality or bit rate makes a smaller file") {
  const TemporaryDirectory top;
  const Ran ran = shell(
      "{ " + k_make_fast + "\n} > /dev/null\nfor how in '--crf 5' '--crf 45' '--bitrate 30'; do " +
          k_say_fast + "$how -o a.mp4 --force > /dev/null; stat -c %s a.mp4; done\n" + k_say_fast +
          "--crf 5 --bitrate 30 -o b.mp4; echo $?",
      top.path());
  CAPTURE(ran.out, ran.err);
  const auto number = [&, at = std::size_t{0}]() mutable {
    const std::size_t end = ran.out.find('\n', at);
    const int value = std::stoi(ran.out.substr(at, end - at));
    at = end + 1;
    return value;
  };
  auto next = number;
  const int fine = next(), coarse = next(), slow = next();
  CHECK(coarse < fine);
  CHECK(slow < fine);
  CHECK(next() == 2);
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

TEST_CASE("the bar is gone when a video's line is written to the terminal") {
  const TemporaryDirectory top;
  const Ran ran = shell("{ " + k_make_fast +
                            "\n} > /dev/null\nscript -qec 'navtalk infer --avatar ./fast --audio "
                            "a.wav --fps 4 -o a.mp4' /dev/null",
                        top.path());
  CAPTURE(ran.out);
  CHECK(contains(ran.out, "100%  4/4\x1b[K\r\x1b[Ka.mp4: 4 frames, "));
}
