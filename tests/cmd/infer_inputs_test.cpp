// What `navtalk infer` takes: files, pipes, several of them, texts.
#include <catch2/catch.hpp>
#include <filesystem>

#include "tests/cmd/shell.h"
#include "tests/temporary_directory.h"

using navtalk::tests::contains;
using navtalk::tests::Ran;
using navtalk::tests::shell;
using navtalk::tests::TemporaryDirectory;

namespace {

// Two short recordings, and a still: few faces are computed.
const std::string k_make_red = R"(
ffmpeg -loglevel error -f lavfi -i sine=frequency=300:duration=0.5 -ar 16000 a.wav
ffmpeg -loglevel error -f lavfi -i sine=frequency=300:duration=0.25 -ar 16000 b.wav
ffmpeg -loglevel error -f lavfi -i color=red:s=96x96 -frames:v 1 p.png
navtalk avatar prepare --image p.png --face-box 20,20,50,50 --no-latents --output red 2> /dev/null
)";
const std::string k_say_red = "navtalk infer --avatar ./red --fps 4 --progress none ";

}  // namespace

TEST_CASE("standard input, a named pipe and process substitution are read as files are") {
  const TemporaryDirectory top;
  REQUIRE(shell(k_make_red + k_say_red + "--audio a.wav -o file.mp4", top.path()).status == 0);
  const auto same = [&](const std::string& how) {
    const Ran ran = shell("rm -f x.mp4; " + how + " && cmp file.mp4 x.mp4", top.path());
    CAPTURE(how, ran.err);
    return ran.status == 0;
  };
  CHECK(same("cat a.wav | " + k_say_red + "--audio - -o x.mp4"));
  CHECK(same(k_say_red + "--audio - -o x.mp4 < a.wav"));
  CHECK(same(k_say_red + "--audio <(cat a.wav) -o x.mp4"));
  CHECK(same("mkfifo f; cat a.wav > f & " + k_say_red + "--audio f -o x.mp4"));
  const Ran nothing = shell(k_say_red + "--audio - -o n.mp4 < /dev/null", top.path());
  CHECK(nothing.status == 3);
  CHECK(contains(nothing.err, "standard input is empty"));
  CHECK(contains(shell("echo no sound | " + k_say_red + "--audio - -o y.mp4", top.path()).err,
                 "standard input cannot be read as audio"));
}

TEST_CASE("several recordings become several videos, named after them") {
  const TemporaryDirectory top;
  REQUIRE(shell(k_make_red, top.path()).status == 0);
  const Ran pipes = shell(
      k_say_red + "--audio <(cat a.wav) b.wav <(cat b.wav) --output-dir p && ls p", top.path());
  CAPTURE(pipes.err);
  CHECK(contains(pipes.out, "b.mp4\nspeech-01.mp4\nspeech-02.mp4\n"));
  const Ran ran =
      shell(k_say_red + "--audio a.wav b.wav --output-dir d --format webm --json", top.path());
  CAPTURE(ran.err);
  CHECK(ran.status == 0);
  CHECK(contains(ran.out, "\"output\":\"d/a.webm\""));
  CHECK(contains(ran.out, "\n{\"audio\":\"b.wav\",\"output\":\"d/b.webm\""));
  CHECK(std::filesystem::exists(top / "d/b.webm"));
  const auto refused = [&](const std::string& options, const std::string& why) {
    const Ran no = shell(k_say_red + options, top.path());
    CAPTURE(options, no.err);
    CHECK(no.status != 0);
    CHECK(contains(no.err, why));
  };
  refused("--audio a.wav b.wav", "name their folder with --output-dir");
  refused("--audio a.wav ./a.wav --output-dir e", "would both become e/a.mp4");
  refused("--audio - - --output-dir e", "standard input, which is read once");
  refused("--audio b.wav a.wav --output-dir d --format webm", "d/b.webm exists");
  CHECK_FALSE(std::filesystem::exists(top / "e"));
}

TEST_CASE("inputs that fail stop no other, and are named together at the end") {
  const TemporaryDirectory top;
  const Ran ran =
      shell(k_make_red + "echo no sound > bad.wav\nmkdir d; touch d/b.mp4\n" + k_say_red +
                "--audio absent.wav bad.wav b.wav a.wav --output-dir d --json",
            top.path());
  CAPTURE(ran.out, ran.err);
  CHECK(ran.status == 1);  // they failed for different reasons
  CHECK(contains(ran.out,
                 R"({"audio":"absent.wav","output":"d/absent.mp4","error":{"code":"not_found")"));
  CHECK(contains(ran.out, R"({"audio":"bad.wav","output":"d/bad.mp4","error":{"code":"invalid")"));
  CHECK(contains(ran.out, R"({"audio":"b.wav","output":"d/b.mp4","error":{"code":"invalid")"));
  CHECK(contains(ran.out, R"({"audio":"a.wav","output":"d/a.mp4","avatar")"));
  CHECK(contains(ran.out, R"({"error":{"code":"failed","message":"3 of 4 inputs failed: )"
                          R"(absent.wav, b.wav, bad.wav"}})"));
  CHECK(contains(ran.err, "absent.wav: there is no such file"));
  CHECK(contains(ran.err, "bad.wav cannot be read as audio"));
  CHECK(contains(ran.err, "d/b.mp4 exists"));
  CHECK(contains(shell("ls d", top.path()).out, "a.mp4\nb.mp4\n"));
  // The outputs that exist are not made again.
  const Ran again = shell(k_say_red + "--audio a.wav b.wav --output-dir d", top.path());
  CHECK(again.status == 3);
  CHECK(contains(again.err, "2 of 2 inputs failed: a.wav, b.wav"));
}

TEST_CASE("a text that cannot be spoken stops no other, and a voice that is not there all") {
  const TemporaryDirectory top;
  const Ran ran = shell(k_make_red + "printf -- '---\\n\\nTwo.\\n' > t.txt\n" + k_say_red +
                            "--text-file t.txt --output-dir d; echo $?; ls d",
                        top.path());
  CAPTURE(ran.out, ran.err);
  CHECK(contains(ran.out, "\n3\nt-02.mp4\n"));
  CHECK(contains(ran.err, "text 1 of t.txt: the text holds nothing that can be spoken"));
  const Ran voice =
      shell(k_say_red + "--text-file t.txt --voice nobody --output-dir e", top.path());
  CHECK(voice.status == 4);
  CHECK_FALSE(contains(voice.err, "inputs failed"));
}

TEST_CASE("each paragraph of a text file is a video") {
  const TemporaryDirectory top;
  REQUIRE(shell(k_make_red + "printf '\\nOne,\\nstill one.\\n \\n\\nTwo.\\n' > t.txt", top.path())
              .status == 0);
  const Ran ran = shell(k_say_red + "--text-file t.txt --output-dir d && ls d", top.path());
  CAPTURE(ran.err);
  CHECK(contains(ran.out, "t-01.mp4\nt-02.mp4\n"));
  CHECK(shell("echo Hello. | " + k_say_red + "--text-file - -o x.mp4", top.path()).status == 0);
  CHECK(contains(shell("echo | " + k_say_red + "--text-file - -o y.mp4", top.path()).err,
                 "standard input holds no text"));
}

TEST_CASE("a file of SSML is one text, and its empty lines are no end") {
  const TemporaryDirectory top;
  const Ran ran =
      shell(k_make_red +
                "printf '<speak>One.\\n\\n<break time=\"2s\"/>\\n\\nTwo.</speak>\\n' > t.ssml\n" +
                k_say_red + "--text-file t.ssml --ssml -o x.mp4 --json",
            top.path());
  CAPTURE(ran.out, ran.err);
  REQUIRE(ran.status == 0);
  const std::size_t at = ran.out.find("\"duration_s\":");
  REQUIRE(at != std::string::npos);
  CHECK(std::stod(ran.out.substr(at + 13)) > 2.5);
}

TEST_CASE("a text in letters that the voice does not speak is warned of, with a voice that does") {
  const TemporaryDirectory top;
  const Ran ran = shell(k_make_red + k_say_red + "--text 'Привет, мир' -o a.mp4", top.path());
  CHECK(contains(ran.err, "mostly in Cyrillic writing"));
  CHECK(contains(ran.err, "--voice ru does"));
  const Ran right = shell(k_say_red + "--text 'Привет, мир' --voice ru -o b.mp4", top.path());
  CHECK_FALSE(contains(right.err, "writing"));
  CHECK(contains(shell(k_say_red + "--text '<p>One</p>' -o c.mp4", top.path()).err,
                 "the text has tags of SSML, which are left out"));
}

TEST_CASE("subtitles stand beside the video, in its folder or in its pictures") {
  const TemporaryDirectory top;
  const std::string say = k_say_red + "--text 'One two three. Four five six.' --subtitles ";
  const Ran beside = shell(k_make_red + say + "srt -o a.mp4 && cat a.srt", top.path());
  CAPTURE(beside.err);
  CHECK(contains(beside.out, "1\n00:00:00,000 --> "));
  CHECK(contains(beside.out, "Four five six.\n"));
  CHECK(contains(shell(say + "vtt -o d/ && cat d/subtitles.vtt", top.path()).out, "WEBVTT\n"));
  CHECK(shell(say + "burn --frames burnt && " + k_say_red +
                  "--text 'One two three. Four five six.' --frames plain && "
                  "cmp burnt/00000000.png plain/00000000.png",
              top.path())
            .status == 1);
  const Ran part =
      shell(say + "srt --start 0.5 --duration 0.5 -o part.mp4 && cat part.srt", top.path());
  CHECK(contains(part.out, "1\n00:00:00,000 --> 00:00:00,500\nOne two three."));
  CHECK(shell(say + "srt -o - | cat", top.path()).out.empty());
  CHECK(shell(k_say_red + "--audio a.wav --subtitles srt -o x.mp4", top.path()).status == 2);
}

TEST_CASE("voices are listed by language") {
  const Ran all = shell("navtalk voices");
  CHECK(contains(all.out, "\nen-us "));
  CHECK(contains(all.out, "\nru "));
  const Ran one = shell("navtalk voices ru --json");
  CHECK(contains(one.out, R"({"voices":[{"voice":"ru","language":"Russian",)"));
  CHECK_FALSE(contains(one.out, "en-us"));
  CHECK(shell("navtalk voices xx").status == 4);
}

TEST_CASE("a recording without samples is called empty, not damaged") {
  const TemporaryDirectory top;
  const Ran ran = shell(k_make_red +
                            "head -c 44 /dev/zero > /dev/null\n"
                            "ffmpeg -loglevel error -f s16le -ar 8000 -ac 1 -i /dev/null e.wav\n" +
                            k_say_red + "--audio e.wav -o x.mp4",
                        top.path());
  CHECK(ran.status == 3);
  CHECK(contains(ran.err, "e.wav is empty"));
}

TEST_CASE("progress can be read by programs") {
  const TemporaryDirectory top;
  const Ran ran =
      shell(k_make_red +
                "navtalk infer --avatar ./red --audio a.wav --fps 4 -o x.mp4 --progress "
                "json --log-level error",
            top.path());
  CHECK(contains(ran.err, R"({"stage":"rendering","done":2,"total":2,)"));
}
