#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cmd/shell.h"
#include "tests/temporary_directory.h"

using navtalk::tests::contains;
using navtalk::tests::Ran;
using navtalk::tests::shell;
using navtalk::tests::TemporaryDirectory;

namespace {

const std::string k_picture = NAVTALK_SOURCE "/docs/images/hello.jpg";
const std::string k_prepare =
    "navtalk avatar prepare --image " + k_picture + " --face-box 60,60,120,120 --output ";

}  // namespace

TEST_CASE("avatar prepare writes a bundle that avatar show reads") {
  const TemporaryDirectory top;
  const Ran ran = shell(k_prepare + "a --id anna && navtalk avatar show ./a --json", top.path());
  CHECK(ran.status == 0);
  CHECK(contains(ran.err, "was made for ada and theo only: the face of anna will not look right"));
  CHECK(contains(ran.err, "MuseTalk's weights"));
  CHECK(contains(ran.out, "length    1 frame, 0.04 s\n"));
  const auto shown = nlohmann::json::parse(ran.out.substr(ran.out.find("{\"")));
  CHECK(shown.at("id") == "anna");
  CHECK(shown.at("frames") == 1);
  CHECK(shown.at("face_source") == "box");
}

TEST_CASE("on a terminal the warning begins a line of its own") {
  const TemporaryDirectory top;
  const Ran ran = shell("script -qec '" + k_prepare + "a' /dev/null", top.path());
  CAPTURE(ran.out);
  CHECK(contains(ran.out, "latents  ["));
  const std::size_t warning = ran.out.find("the model in ");
  REQUIRE(warning != std::string::npos);
  const std::size_t line = ran.out.rfind('\r', warning);
  CHECK(ran.out.substr(line, 4) == "\r\x1b[K");
}

TEST_CASE("what would fail after the work is refused before it") {
  const TemporaryDirectory top;
  const Ran folder = shell(k_prepare + "a --preview none/p.png", top.path());
  CHECK(folder.status == 4);
  const Ran there = shell("touch p.png && " + k_prepare + "a --preview p.png", top.path());
  CHECK(there.status == 3);
  CHECK(contains(there.err, "p.png exists"));
  CHECK(shell(k_prepare + "a --device cuda:63", top.path()).status == 3);
  CHECK_FALSE(std::filesystem::exists(top / "a"));
}

TEST_CASE("a preview shows the face's box, what is replaced, and its seam") {
  const TemporaryDirectory top;
  const std::string show = "navtalk avatar show ./a --preview p.png";
  const Ran ran = shell(k_prepare + "a && " + show + " && " + show + "; echo $?", top.path());
  CAPTURE(ran.err);
  CHECK(contains(ran.out, "\n3\n"));
  CHECK(contains(ran.err, "p.png exists"));
  // The box's corner is green.
  const Ran corner = shell(
      "ffmpeg -loglevel error -i p.png -vf crop=1:1:60:60 -f rawvideo -pix_fmt rgb24 - | xxd -p",
      top.path());
  CHECK(corner.out == "3cdc3c\n");
  CHECK(shell("navtalk avatar show ./a --preview p.jpg", top.path()).status == 0);
  const Ran kind = shell(
      "ffprobe -loglevel error -show_entries stream=codec_name -of csv=p=0 p.jpg", top.path());
  CHECK(contains(kind.out, "mjpeg"));
  CHECK(shell("navtalk avatar show ./a --preview p.gif", top.path()).status == 2);
}

TEST_CASE("avatar prepare replaces a folder only with --force") {
  const TemporaryDirectory top;
  const Ran ran =
      shell(k_prepare + "a && " + k_prepare + "a; echo $?; " + k_prepare + "a --force --json",
            top.path());
  CHECK(ran.status == 0);
  CHECK(contains(ran.out, "\n3\n{\"id\":\"a\""));
  CHECK(contains(ran.err, "navtalk: error: a exists: choose another output, or --force\n"));
}

TEST_CASE("avatar prepare names a bad source once, and leaves nothing behind") {
  const TemporaryDirectory top;
  const auto refused = [&](const std::string& options, int status, const std::string& message) {
    const Ran ran =
        shell("echo no video > bad.mp4\nffmpeg -loglevel error -y -i " NAVTALK_SOURCE
              "/assets/demo/avatars/ada/frames.mp4 -c copy -movflags +faststart whole.mp4\n"
              "head -c 20000 whole.mp4 > cut.mp4\nnavtalk avatar prepare --output a " +
                  options,
              top.path());
    CAPTURE(options, ran.err);
    CHECK(ran.status == status);
    CHECK(contains(ran.err, message));
    CHECK(ran.err.find(".mp4") == ran.err.rfind(".mp4"));
    CHECK_FALSE(std::filesystem::exists(top / "a"));
  };
  refused("--video absent.mp4", 4, "absent.mp4: no such file");
  refused("--video bad.mp4", 3, "bad.mp4: not a readable video");
  refused("--video cut.mp4", 3, "cut.mp4 is damaged");
  refused("--image bad.mp4", 3, "bad.mp4 is not a picture");
  refused("--image " + k_picture + " --face-box 60,60,120,9999", 3, "leaves the frame");
  refused("", 2, "--video");
}

TEST_CASE(
    "avatar prepare takes the mask from the model's face parsing, or says what it has instead") {
  const TemporaryDirectory top;
  const Ran skin =
      shell(k_prepare + "s --no-latents && navtalk avatar show ./s --json", top.path());
  CHECK(contains(skin.out, "mask      from the colours of skin\n"));
  CHECK(contains(skin.out, "\"mask_source\":\"skin\""));
  const Ran ellipse =
      shell(k_prepare + "a --parsing-mode none --no-latents && navtalk avatar show ./a --json",
            top.path());
  CHECK(contains(ellipse.out, "mask      from an ellipse\n"));
  CHECK(contains(ellipse.out, "\"mask_source\":\"ellipse\""));

  const auto refused = [&](const std::string& options, int status, const std::string& message) {
    const Ran ran = shell(k_prepare + "b --no-latents " + options, top.path());
    CAPTURE(options, ran.err);
    CHECK(ran.status == status);
    CHECK(contains(ran.err, message));
    CHECK_FALSE(std::filesystem::exists(top / "b"));
  };
  refused("--parsing-mode jaw", 4, "face-parse-bisent");
  refused("--left-cheek-width 80", 4, "face-parse-bisent");
  refused("--parsing-mode raw --left-cheek-width 80", 2, "--parsing-mode jaw");
  refused("--parsing-mode face", 2, "--parsing-mode");
  shell("mkdir -p m/face-parse-bisent && echo x > m/face-parse-bisent/79999_iter.pth", top.path());
  refused("--models m", 3, "79999_iter.pth");
  CHECK(shell(k_prepare + "b --no-latents --models m --parsing-mode none", top.path()).status == 0);
}

TEST_CASE("avatar prepare takes MuseTalk's boxes from a model that has both networks") {
  const TemporaryDirectory top;
  shell(
      "mkdir -p one/dwpose && echo x > one/dwpose/dw-ll_ucoco_384.pth\n"
      "cp -r one both && echo x > both/s3fd.pth",
      top.path());
  const std::string find = "navtalk avatar prepare --no-latents --output b --image " + k_picture;
  const auto refused = [&](const std::string& options, int status, const std::string& message) {
    const Ran ran = shell(find + options, top.path());
    CAPTURE(options, ran.err);
    CHECK(ran.status == status);
    CHECK(contains(ran.err, message));
    CHECK_FALSE(std::filesystem::exists(top / "b"));
  };
  refused(" --models both", 3, "s3fd.pth");
  refused(" --face-box 60,60,120,120 --bbox-shift 3", 2, "--bbox-shift");
  refused(" --extra-margin -1", 2, "--extra-margin");
  const Ran built_in = shell(find + " --models one", top.path());
  CAPTURE(built_in.err);
  CHECK(built_in.status == 0);
  CHECK(contains(built_in.err, "the built-in face finder is used: one has DWPose and not S3FD"));
  CHECK(contains(built_in.out, "face      from the built-in finder with landmarks (dlib)\n"));
}

TEST_CASE(
    "avatar prepare's built-in finder has landmarks, and MuseTalk's parameters move its box") {
  const TemporaryDirectory top;
  const auto box = [&](const std::string& options) {
    const Ran ran = shell(
        "navtalk avatar prepare --no-latents --force --output b --image " + k_picture + options,
        top.path());
    CAPTURE(options, ran.err);
    REQUIRE(ran.status == 0);
    const auto face = nlohmann::json::parse(std::ifstream(top / "b" / "faces.json"))["frames"][0];
    CHECK(face["landmarks"].size() == 136);
    return face["box"].get<std::vector<int>>();
  };
  const std::vector<int> plain = box("");
  CHECK(box(" --extra-margin 15")[3] == plain[3] + 5);
  CHECK(box(" --bbox-shift -3")[1] == plain[1] - 6);
}

TEST_CASE("one picture becomes a clip with --still-motion, and nothing else does") {
  const TemporaryDirectory top;
  const Ran ran =
      shell(k_prepare + "a --fps 2 --still-motion --no-blinks --no-latents", top.path());
  CAPTURE(ran.err);
  CHECK(ran.status == 0);
  CHECK(contains(ran.out, "length    24 frames, 12.00 s, loops\n"));
  const auto refused = [&](const std::string& options) {
    const Ran wrong = shell("navtalk avatar prepare -o b " + options, top.path());
    CHECK(wrong.status == 2);
    return wrong.err;
  };
  CHECK(contains(refused("--video v.mp4 --still-motion"), "give one picture with --image"));
  CHECK(contains(refused("--image p.png --still-motion --idle v.mp4"), "without other clips"));
  CHECK(contains(refused("--image p.png --no-blinks"), "is about --still-motion"));
}
