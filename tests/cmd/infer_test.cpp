#include <catch2/catch.hpp>
#include <filesystem>

#include "tests/cmd/shell.h"
#include "tests/temporary_directory.h"

using navtalk::tests::contains;
using navtalk::tests::Ran;
using navtalk::tests::shell;
using navtalk::tests::TemporaryDirectory;

namespace {

// A second of silence as WAV, 8 kHz, one byte a sample.
const std::string k_wav =
    R"(printf 'RIFF\x64\x1f\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x40\x1f\0\0\1\0\x08\0data\x40\x1f\0\0' > a.wav
head -c 8000 /dev/zero | tr '\0' '\200' >> a.wav
)";
const std::string k_infer =
    "NAVTALK_LOG_FORMAT=text navtalk infer --progress none --avatar ada --audio a.wav --output "
    "a.mp4 --fps "
    "1";

}  // namespace

TEST_CASE("infer counts one frame as one") {
  const TemporaryDirectory top;
  const Ran ran = shell(k_wav + k_infer, top.path());
  CHECK(ran.status == 0);
  CHECK(ran.err.empty());
  CHECK(contains(ran.out, "a.mp4: 1 frame, 1.00 s of video"));
}

TEST_CASE("a face that is sharpened, or has the frame's colours, is another one") {
  const TemporaryDirectory top;
  const std::string infer =
      "NAVTALK_LOG_FORMAT=text navtalk infer --progress none --avatar ada --audio a.wav --fps 1 ";
  const Ran ran = shell(k_wav + infer + "--frames plain && " + infer + "--frames again && " +
                            infer + "--frames sharp --sharpen 1.2 && " + infer +
                            "--frames matched --match-colour; "
                            "cmp plain/*.png again/*.png && echo same; for other in sharp matched; "
                            "do cmp -s plain/*.png $other/*.png || echo $other; done",
                        top.path());
  CHECK(ran.err.empty());
  CHECK(contains(ran.out, "same\nsharp\nmatched\n"));
}

TEST_CASE("infer sharpens and matches colours as the avatar says, unless it is told otherwise") {
  const TemporaryDirectory top;
  const std::string anna = "cp -r '" NAVTALK_SOURCE
                           "/assets/demo/avatars/ada' anna && sed -i 's/\"id\":/\"sharpen\": 1.2, "
                           "\"match_colour\": true,"
                           "\\n\"id\":/' anna/avatar.json\n";
  const std::string infer =
      "NAVTALK_LOG_FORMAT=text navtalk infer --progress none --audio a.wav --fps 1 --avatar ";
  const Ran ran = shell(k_wav + anna + infer + "./anna --frames own && " + infer +
                            "ada --frames asked --sharpen 1.2 --match-colour && " + infer +
                            "./anna --frames off --sharpen 0 --no-match-colour && " + infer +
                            "ada --frames plain && cmp own/*.png asked/*.png && "
                            "cmp off/*.png plain/*.png && navtalk avatar show ./anna",
                        top.path());
  CHECK(ran.err.empty());
  CHECK(ran.status == 0);
  CHECK(contains(ran.out, "sharpen   by 1.2\ncolours   matched with each frame\n"));
  CHECK(shell(infer + "ada --frames x --match-colour --no-match-colour", top.path()).status == 2);
}

TEST_CASE("infer refuses a WAV file that was cut, and makes no video of it") {
  const TemporaryDirectory top;
  const Ran ran = shell(k_wav + "truncate -s 5044 a.wav\n" + k_infer + "0", top.path());
  CHECK(ran.status == 3);
  CHECK(contains(ran.err,
                 "a.wav is damaged: it ends after 0.62 s and should last 1.00 s: it was cut"));
  CHECK_FALSE(std::filesystem::exists(top / "a.mp4"));
  const Ran piped =
      shell("cat a.wav | navtalk infer --avatar ada --audio - --fps 1 -o p.mp4", top.path());
  CHECK(piped.status == 3);
  CHECK(contains(piped.err, "standard input is damaged"));
}

TEST_CASE("infer warns of other sound that is cut off, and renders what is there") {
  const TemporaryDirectory top;
  const std::string ogg =
      "ffmpeg -loglevel error -i a.wav -c:a flac -frame_size 800 -page_duration 200000 -f ogg "
      "a.ogg && rm a.wav && "
      "truncate -s -1 a.ogg && mv a.ogg a.wav\n";
  const Ran ran = shell(k_wav + ogg + k_infer + "0", top.path());
  CHECK(ran.status == 0);
  CHECK(contains(ran.err, "a.wav is damaged: it ends after"));
  CHECK(contains(ran.out, "a.mp4:"));
  CHECK(shell(k_infer + "0 --force --log-level off", top.path()).err.empty());
}

TEST_CASE("infer never replaces the recording that it reads") {
  const TemporaryDirectory top;
  const Ran ran = shell(
      k_wav + "cp a.wav b.wav\nnavtalk infer --avatar ada --audio a.wav --output ./a.wav --force",
      top.path());
  CHECK(ran.status == 2);
  CHECK(contains(ran.err, "--output is the file of --audio"));
  CHECK(shell("cmp a.wav b.wav", top.path()).status == 0);
}

TEST_CASE("an avatar's folder needs no demo beside it, whatever the folder is called") {
  const TemporaryDirectory top;
  const std::string copy = "cp -r '" NAVTALK_SOURCE "/assets/demo/avatars/ada' anna\n";
  const std::string show = "NAVTALK_DATA_DIR=/nonexistent navtalk avatar show ";
  CHECK(shell(copy + show + "./anna", top.path()).status == 0);
  CHECK(contains(shell(show + "./nobody", top.path()).err, "nobody"));
  CHECK(contains(shell(show + "nobody", top.path()).err, "/nonexistent"));
}

TEST_CASE("a folder in the current one never takes the place of an avatar's id") {
  const TemporaryDirectory top;
  const std::string make =
      "ffmpeg -loglevel error -f lavfi -i color=red:s=96x96 -frames:v 1 p.png\n"
      "for id in ada anna; do navtalk avatar prepare --image p.png --face-box 20,20,50,50 "
      "--no-latents --output $id; done 2> /dev/null\n";
  const Ran both = shell(make + "navtalk avatar show ada --json", top.path());
  CHECK(both.status == 0);
  CHECK(contains(both.out, "\"width\":704"));
  CHECK(contains(both.err, "for that one write ./ada"));
  const Ran here = shell("navtalk avatar show ./ada --json", top.path());
  CHECK(contains(here.out, "\"width\":96"));
  CHECK(here.err.empty());
  const Ran other = shell("navtalk avatar show anna", top.path());
  CHECK(other.status == 4);
  CHECK(contains(other.err, "for the folder anna write ./anna"));
}

TEST_CASE("a clip that loops goes round in the video, every other forth and back") {
  const TemporaryDirectory top;
  // Three colours; only the first frame is said to have a face, so the others are shown untouched.
  const std::string pictures =
      "mkdir p\nfor c in red green blue; do ffmpeg -loglevel error -f lavfi -i color=$c:s=96x96 "
      "-frames:v 1 p/$((++n)).png; done\n"
      "echo '{\"boxes\": [[20,20,70,70], null, null]}' > boxes.json\n";
  const auto shown = [](const std::string& id, const std::string& option) {
    return "navtalk avatar prepare --images p --face-boxes boxes.json --no-latents --fps 6 "
           "--output " +
           id + option + "\nnavtalk infer --avatar ./" + id + " --audio a.wav --frames f-" + id +
           "\n";
  };
  const Ran ran =
      shell(k_wav + pictures + shown("round", " --loop") + shown("back", ""), top.path());
  CAPTURE(ran.err);
  REQUIRE(ran.status == 0);
  const auto same = [&](const std::string& one, const std::string& other) {
    return shell("cmp $(ls -d " + one + ") $(ls -d " + other + ")", top.path()).status == 0;
  };
  CHECK(same("f-round/*2.png", "f-round/*5.png"));
  CHECK(same("f-back/*2.png", "f-back/*3.png"));
  CHECK_FALSE(same("f-back/*2.png", "f-back/*5.png"));
}

TEST_CASE("a text is spoken with the avatar's own voice unless another is named") {
  const TemporaryDirectory top;
  const std::string prepare =
      k_wav +
      "ffmpeg -loglevel error -f lavfi -i color=red:s=96x96 -frames:v 1 p.png\n"
      "navtalk avatar prepare --image p.png --face-box 20,20,50,50 "
      "--no-latents --voice nobody --output bob\n";
  REQUIRE(shell(prepare, top.path()).status == 0);
  const std::string say = "navtalk infer --avatar ./bob --text hi --fps 1 --output a.mp4";
  CHECK(contains(shell(say, top.path()).err, "no voice \"nobody\""));
  CHECK_FALSE(contains(shell(say + " --voice en-us", top.path()).err, "voice"));
}

TEST_CASE("infer names the temporary folder that is not there") {
  const TemporaryDirectory top;
  const Ran ran = shell(
      "TMPDIR=/nonexistent/tmp navtalk infer --avatar ada --text hi --output a.mp4", top.path());
  CHECK(ran.status == 1);
  CHECK(contains(ran.err, "/nonexistent/tmp"));
  CHECK(contains(ran.err, "TMPDIR"));
}

TEST_CASE("what this machine or build cannot do exits with 3, a word that is unknown with 2") {
  const TemporaryDirectory top;
  const auto status = [&](const std::string& options) {
    return shell(k_wav + k_infer + " " + options, top.path()).status;
  };
  CHECK(status("--device cuda") == 3);
  CHECK(status("--precision fp16") == 3);
  CHECK(status("--device tpu") == 2);
  CHECK(status("--decoder-device cuda") == 3);
  CHECK(status("--decoder-device tpu") == 2);
  CHECK(status("--precision fp8") == 2);
  CHECK(status("--weight-format int8") == 3);
  CHECK(status("--weight-format int4") == 2);
  CHECK_FALSE(std::filesystem::exists(top / "a.mp4"));
}
