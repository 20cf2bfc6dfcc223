#include <stdlib.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <thread>

#include "core/media/decode/audio.h"
#include "core/media/speech.h"
#include "core/speech/spoken_length.h"
#include "tests/core/expect_error.h"
#include "tests/core/files/scratch_folder.h"
#include "tests/core/media/fake_espeak.h"

using namespace navtalk;
using namespace navtalk::test;

TEST_CASE("a sentence is spoken, and the shell sees none of it") {
  const ScratchFolder folder;
  const std::string text =
      GENERATE(as<std::string>{}, "Hello, how are you?", "$(touch /tmp/x) `ls` \"'", "-w /dev/null",
               "Grüße, schöne Welt");
  speak(text, "en-us+f3", folder / "hello.wav");
  const Audio audio = decode_audio(folder / "hello.wav");
  CHECK(audio.rate_hz == 22050);
  CHECK(audio.duration_s() > 0.4);
}

TEST_CASE("tags of SSML are never read aloud, and obeyed where that is asked for") {
  const ScratchFolder folder;
  const auto seconds = [&](const std::string& text, Markup markup) {
    speak(text, "en-us", folder / "a.wav", {}, markup);
    return decode_audio(folder / "a.wav").duration_s();
  };
  const std::string tagged = "Hello <break time=\"3s\"/> you.";
  CHECK(seconds(tagged, Markup::none) == Approx(seconds("Hello you.", Markup::none)).margin(0.1));
  CHECK(seconds(tagged, Markup::ssml) > 3);
  const std::string words = "seven or more of them";
  CHECK(seconds("Hello <" + words + "> you.", Markup::none) >
        seconds("Hello you.", Markup::none) + 0.5);
}

TEST_CASE("a sound file that SSML names is not opened") {
  const ScratchFolder folder;
  const auto seconds = [&](const std::string& text) {
    speak(text, "en-us", folder / "a.wav", {}, Markup::ssml);
    return decode_audio(folder / "a.wav").duration_s();
  };
  const std::string sound = folder / "long.wav";
  speak("This sentence lasts for some seconds when it is spoken.", "en-us", sound);
  const std::string name = GENERATE(as<std::string>{}, "audio", "AUDIO", "\u0161udio");
  const std::string tag = "<" + name + " src=\"" + sound + "\"/>";
  CHECK(seconds("<speak>Hello " + tag + " you.</speak>") ==
        Approx(seconds("<speak>Hello <other/> you.</speak>")).margin(0.1));
}

TEST_CASE("control characters in a text are no commands") {
  const ScratchFolder folder;
  const auto seconds = [&](const std::string& text, Markup markup) {
    speak(text, "en-us", folder / "a.wav", {}, markup);
    return decode_audio(folder / "a.wav").duration_s();
  };
  const Markup markup = GENERATE(Markup::none, Markup::ssml);
  CHECK(seconds("\x01"
                "1S word. word. word.",
                markup) == Approx(seconds(" 1S word. word. word.", markup)).margin(0.1));
}

TEST_CASE("subtitles stand while their sentences are spoken") {
  const ScratchFolder folder;
  const std::string first = "This sentence is the first one.", second = "Here is another!";
  speak(first, "en-us", folder / "a.wav");
  const double first_s = decode_audio(folder / "a.wav").duration_s();
  speak(first + " " + second, "en-us", folder / "b.wav");
  const double both_s = decode_audio(folder / "b.wav").duration_s();
  const std::vector<Cue> cues = subtitles_of(first + "\n" + second, "en-us", both_s);
  REQUIRE(cues.size() == 2);
  CHECK(cues[0].text == first);
  CHECK(cues[0].start_s == 0);
  CHECK(cues[0].end_s == Approx(first_s).margin(0.05));
  CHECK(cues[1].start_s == cues[0].end_s);
  CHECK(cues[1].end_s == Approx(both_s).margin(0.01));
}

TEST_CASE("the length of speech is that of its file, and speech that lasts too long is ended") {
  const ScratchFolder folder;
  const std::string text = "This sentence lasts for some seconds when it is spoken.";
  speak(text, "en-us", folder / "a.wav");
  const double seconds = decode_audio(folder / "a.wav").duration_s();
  const SpokenLength whole = measure_spoken(text, "en-us", Markup::none, 60);
  CHECK(whole.seconds == Approx(seconds).margin(0.001));
  CHECK_FALSE(whole.too_long);
  CHECK(whole.ran.exit_status == 0);
  CHECK(measure_spoken(text, "en-us", Markup::none, 1).too_long);
  CHECK(measure_spoken("", "en-us", Markup::none, 1).seconds == 0);
}

TEST_CASE("speech that is measured is kept nowhere, and one without an end is ended") {
  const ScratchFolder folder;
  // A header of 8000 bytes a second, to a pipe alone.
  put_espeak(folder,
             "test -p /proc/self/fd/3 || exit 9\n"
             "{ head -c 28 /dev/zero; printf '\\100\\037\\0\\0'; head -c 12 /dev/zero; } >&3\n"
             "head -c \"$(cat)\" /dev/zero >&3");
  const Path path(folder.path().string() + ":" + ::getenv("PATH"));
  const SpokenLength three = measure_spoken("24000", "en-us", Markup::none, 4);
  CHECK(three.ran.exit_status == 0);
  CHECK(three.seconds == 3);
  CHECK(measure_spoken("100T", "en-us", Markup::none, 4).too_long);
}

TEST_CASE("a long text is spoken whole") {
  const ScratchFolder folder;
  std::string text;
  for (int i = 0; i < 30'000; ++i) text += "a b. ";
  put_espeak(folder, "test \"$(wc -c)\" = 150000 || exit 9\necho too long to speak >&2; exit 7");
  const Path path(folder.path().string() + ":" + ::getenv("PATH"));
  expect_error(Code::failed, {"espeak-ng failed with status 7: too long to speak"},
               [&] { speak(text, "en-us", folder / "a.wav"); });
}

TEST_CASE("a voice that is not there is named") {
  const ScratchFolder folder;
  const auto say = [&](const std::string& voice) { speak("hello", voice, folder / "a.wav"); };
  expect_error(Code::not_found, {"klingon-x", "navtalk voices"}, [&] { say("klingon-x"); });
  expect_error(Code::not_found, {"\"f33\"", "variant"}, [&] { say("en-us+f33"); });
  expect_error(Code::not_found, {"variant"}, [&] { say("en-us+"); });
  CHECK_FALSE(std::filesystem::exists(folder / "a.wav"));
}

TEST_CASE("text with nothing to speak is refused") {
  const ScratchFolder folder;
  const std::string text = GENERATE(as<std::string>{}, "", " ", "\n\n", "...", "?!");
  expect_error(Code::invalid, {"nothing that can be spoken"},
               [&] { speak(text, "en-us", folder / "a.wav"); });
  CHECK_FALSE(std::filesystem::exists(folder / "a.wav"));
}

TEST_CASE("a missing espeak-ng says how to install it") {
  const ScratchFolder folder;
  const Path path(folder.path());
  expect_error(Code::not_found, {"apt install espeak-ng"},
               [&] { speak("hello", "en-us", folder / "a.wav"); });
}

TEST_CASE("speech that cannot be written says why") {
  const ScratchFolder folder;
  expect_error(Code::failed, {"missing/a.wav", "No such file or directory"},
               [&] { speak("hello", "en-us", folder / "missing/a.wav"); });
  expect_error(Code::failed, {"/dev/full", "No space left"},
               [] { speak("hello", "en-us", "/dev/full"); });
}

TEST_CASE("a stop request kills the speaker") {
  const ScratchFolder folder;
  // The script says on a pipe that it runs, then never ends by itself.
  REQUIRE(::system(("mkfifo '" + (folder / "runs").string() + "'").c_str()) == 0);
  put_espeak(folder, "echo yes > '" + (folder / "runs").string() + "'\nexec sleep 1000");
  const Path path(folder.path().string() + ":" + ::getenv("PATH"));
  std::stop_source stop;
  std::jthread stopper([&] {
    content(folder / "runs");  // until the script has started
    stop.request_stop();
  });
  expect_error(Code::interrupted, {},
               [&] { speak("hello", "en-us", folder / "a.wav", stop.get_token()); });
  CHECK_FALSE(std::filesystem::exists(folder / "a.wav"));
}
