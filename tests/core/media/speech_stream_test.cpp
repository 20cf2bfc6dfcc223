#include "core/media/speech_stream.h"

#include <stdlib.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <thread>

#include "core/media/decode/audio.h"
#include "core/media/speech.h"
#include "tests/core/expect_error.h"
#include "tests/core/files/scratch_folder.h"
#include "tests/core/media/fake_espeak.h"

using namespace navtalk;
using namespace navtalk::test;

namespace {

using Sound = std::vector<std::int16_t>;

constexpr const char* k_english =
    "Dr. Smith paid 3.50 at 10 a.m. for two tickets, i.e. for himself and Mrs. Jones. \"Really?\" "
    "she asked... Yes! The train to St. Albans leaves at 11:45; version 2.0.1 of the timetable "
    "says so.";
constexpr const char* k_german =
    "Frau Prof. Dr. Müller zahlte am 3. Mai ca. 12,50 Euro, d. h. etwa die Hälfte. Um 8.15 Uhr "
    "fuhr "
    "sie z. B. nach Bad Säckingen! Wirklich? Ja, mit der S-Bahn Nr. 4.";

std::vector<Sound> parts_of_speech(const std::string& text, const std::string& voice,
                                   int rate_hz = 16'000) {
  std::vector<Sound> parts;
  speak_in_parts(text, voice, rate_hz, [&](Sound part) {
    parts.push_back(std::move(part));
    return true;
  });
  return parts;
}

Sound whole_speech(const std::string& text, const std::string& voice, int rate_hz) {
  const ScratchFolder folder;
  speak(text, voice, folder / "a.wav");
  Sound whole;
  for (const float sample : decode_audio(folder / "a.wav", {}, {}, rate_hz).samples)
    whole.push_back(
        static_cast<std::int16_t>(std::lround(std::clamp(sample * 32768.0F, -32768.0F, 32767.0F))));
  return whole;
}

}  // namespace

TEST_CASE("the parts of a speech are together the sound of the whole") {
  const auto [text, voice] = GENERATE(
      table<std::string, std::string>({{k_english, "en-us+f3"}, {k_german, "de"}, {"Hi", "en"}}));
  const int rate_hz = GENERATE(8'000, 16'000, 22'050, 48'000);
  Sound all;
  for (const Sound& part : parts_of_speech(text, voice, rate_hz)) {
    CHECK(part.size() < static_cast<std::size_t>(2 * rate_hz));
    all.insert(all.end(), part.begin(), part.end());
  }
  const bool same = all == whole_speech(text, voice, rate_hz);
  CHECK(same);
}

TEST_CASE("the first part of a speech comes before the rest is made") {
  const ScratchFolder folder;
  const std::string sound = folder / "sound.wav", go = folder / "go";
  speak(k_english, "en-us", sound);
  REQUIRE(::system(("mkfifo '" + go + "'").c_str()) == 0);
  put_espeak(folder, "head -c 100044 '" + sound + "' >&3\ntimeout 60 cat '" + go +
                         "' > /dev/null || exit 7\ntail -c +100045 '" + sound + "' >&3\n");
  const Path path(folder.path().string() + ":" + ::getenv("PATH"));
  int parts = 0;
  speak_in_parts(k_english, "en-us", 16'000, [&](const Sound&) {
    if (parts++ == 0) std::ofstream(go) << "go";
    return true;
  });
  CHECK(parts > 2);
}

TEST_CASE("a speech of which no more is wanted ends, however long it would be") {
  const ScratchFolder folder;
  const std::string sound = folder / "sound.wav";
  speak(k_english, "en-us", sound);
  put_espeak(folder, "cat '" + sound + "' >&3\nexec yes >&3\n");
  const Path path(folder.path().string() + ":" + ::getenv("PATH"));
  int parts = 0;
  speak_in_parts(k_english, "en-us", 16'000, [&](const Sound&) { return ++parts < 20; });
  CHECK(parts == 20);
}

TEST_CASE("a speech whose making fails is given as far as it came") {
  const ScratchFolder folder;
  const std::string sound = folder / "sound.wav";
  speak(k_english, "en-us", sound);
  put_espeak(folder, "cat '" + sound + "' >&3\necho out of memory >&2\nexit 3\n");
  const Path path(folder.path().string() + ":" + ::getenv("PATH"));
  std::size_t samples = 0;
  expect_error(Code::failed, {"status 3", "out of memory"}, [&] {
    speak_in_parts(k_english, "en-us", 16'000, [&](const Sound& part) {
      samples += part.size();
      return true;
    });
  });
  CHECK(samples > 100'000);
}

TEST_CASE("what cannot be spoken in parts is refused as a whole speech is") {
  const std::string text = GENERATE(as<std::string>{}, "", " ", "...", "?!");
  expect_error(Code::invalid, {"nothing that can be spoken"},
               [&] { parts_of_speech(text, "en-us"); });
  expect_error(Code::not_found, {"klingon-x", "navtalk voices"},
               [] { parts_of_speech("hello", "klingon-x"); });
  expect_error(Code::not_found, {"\"f33\"", "variant"},
               [] { parts_of_speech("hello", "en-us+f33"); });
  const ScratchFolder folder;
  const Path path(folder.path());
  expect_error(Code::not_found, {"apt install espeak-ng"},
               [] { parts_of_speech("hello", "en-us"); });
}

TEST_CASE("a stop request ends a speech between its parts") {
  const ScratchFolder folder;
  const std::string sound = folder / "sound.wav";
  speak(k_english, "en-us", sound);
  put_espeak(folder, "cat '" + sound + "' >&3\nexec sleep 1000\n");
  const Path path(folder.path().string() + ":" + ::getenv("PATH"));
  std::stop_source stop;
  const auto take = [&](const Sound&) {
    stop.request_stop();
    return true;
  };
  expect_error(Code::interrupted, {},
               [&] { speak_in_parts(k_english, "en-us", 16'000, take, stop.get_token()); });
}

TEST_CASE("a long silence before the first word is given in bounded parts") {
  const ScratchFolder folder;
  const std::string sound = folder / "sound.wav";
  speak("Hello.", "en-us", sound);
  // 30 s of zeros behind the header.
  put_espeak(folder, "head -c 44 '" + sound +
                         "' >&3\nhead -c 1323000 /dev/zero >&3\ntail -c +45 '" + sound + "' >&3\n");
  const Path path(folder.path().string() + ":" + ::getenv("PATH"));
  std::size_t all = 0;
  for (const Sound& part : parts_of_speech("Hello.", "en-us", 16'000)) {
    CHECK(part.size() <= 10 * 16'000);
    all += part.size();
  }
  CHECK(all > 30 * 16'000);
}
