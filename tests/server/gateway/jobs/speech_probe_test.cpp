// The probe's process is a script here, so that it ends as no real one can be made to.
#include "server/gateway/jobs/speech/speech_probe.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <string>

#include "core/base/error.h"
#include "tests/core/files/scratch_folder.h"
#include "tests/server/http/client.h"
#include "tests/temporary_directory.h"

using namespace navtalk;
using namespace navtalk::server;
using namespace navtalk::tests;
using namespace std::chrono_literals;

namespace {

const std::string k_confined = R"(echo '{"confined":true}'; )";

SpeechProbe probe(const std::string& script, std::chrono::milliseconds patience = 60s) {
  return SpeechProbe(
      {.command = {"/bin/sh", "-c", script}, .max_duration_s = 100, .patience = patience});
}

// Its code and what it says.
std::pair<Code, std::string> error_of(const std::string& script,
                                      std::chrono::milliseconds patience = 60s) {
  try {
    probe(script, patience).measure("speech");
  } catch (const Error& error) {
    return {error.code(), error.message()};
  }
  FAIL("it was accepted");
  return {};
}

void is_refused(const std::string& script, const std::string& rule) {
  INFO(script);
  const auto [code, message] = error_of(k_confined + script);
  CHECK(code == Code::invalid);
  CHECK_THAT(message, Catch::Contains("the speech is refused by the rule " + rule));
}

void is_the_machines_fault(const std::string& script) {
  INFO(script);
  const auto [code, message] = error_of(script);
  CHECK(code == Code::failed);
  CHECK_THAT(message, Catch::Contains("try again"));
}

}  // namespace

TEST_CASE("the process reads the speech and says how long it is") {
  const std::string script = k_confined + R"sh(printf '{"duration_s":%d}\n' "$(wc -c < "$0")")sh";
  CHECK(probe(script).measure(std::string(42, 'x')) == 42);
}

TEST_CASE("the process learns where libraries are, and nothing else of the environment") {
  ::setenv("NAVTALK_TEST_SECRET", "42", 1);
  CHECK(probe(k_confined + R"(printf '{"duration_s":1%s}\n' "$NAVTALK_TEST_SECRET")")
            .measure("speech") == 1);
  ::setenv("LD_LIBRARY_PATH", "/none/such", 1);
  const double length =
      probe(k_confined + R"(printf '{"duration_s":%d}\n' "${#LD_LIBRARY_PATH}")").measure("speech");
  ::unsetenv("LD_LIBRARY_PATH");
  CHECK(length == 10);
}

TEST_CASE("speech that a rule refuses names it") {
  is_refused(R"(echo '{"rule":"codec","message":"it is a text"}'; exit 1)", "codec: it is a text");
  is_refused(R"(echo '{"duration_s":101}')", "duration: the speech lasts longer than 100 s");
}

TEST_CASE("speech at which its decoder ends is refused") {
  is_refused("kill -SEGV $$", "codec");
  is_refused("kill -ABRT $$", "codec");
  is_refused("kill -XCPU $$", "decoding");
  CHECK_THAT(error_of(k_confined + "kill -XCPU $$").second, Catch::Contains(" 100 s of speech"));
}

TEST_CASE("a process that says nothing sensible blames the machine") {
  is_the_machines_fault("echo 'no memory' >&2; exit 1");
  is_the_machines_fault("kill -SEGV $$");  // before it read anything
  is_the_machines_fault(k_confined + "kill -KILL $$");
  is_the_machines_fault(k_confined + "echo nonsense");
  is_the_machines_fault(k_confined + R"(echo '{"duration_s":"long"}')");
  is_the_machines_fault(k_confined + R"(echo '{"duration_s":3}'; exit 1)");
  is_the_machines_fault(k_confined + R"(echo '{"duration_s":-3}')");
  is_the_machines_fault(R"(echo '{"confined":"yes"}'; echo '{"duration_s":3}')");
  is_the_machines_fault(R"(echo '{"confined":1}'; echo '{"duration_s":3}')");
  for (const std::string program : {"/none/such", "/dev/null"})  // is not there; cannot be run
    CHECK_THROWS_WITH(SpeechProbe({.command = {program}}).measure("speech"),
                      Catch::Contains("try again") && !Catch::Contains(program));
}

TEST_CASE("a process that hangs is killed, which is the machine's fault") {
  const auto before = std::chrono::steady_clock::now();
  CHECK(error_of(k_confined + "exec sleep 60", 500ms).first == Code::failed);
  CHECK(std::chrono::steady_clock::now() - before < 30s);
}

TEST_CASE("a probe that is stopped kills its process, and starts none any more") {
  const TemporaryDirectory folder;
  const std::string begun = folder / "begun";
  SpeechProbe probe(
      {.command = {"/bin/sh", "-c", k_confined + ": > " + begun + "; exec sleep 60"}});
  auto measured = std::async(std::launch::async, [&] { return probe.measure("speech"); });
  CHECK(eventually([&] { return std::filesystem::exists(begun); }));
  const auto before = std::chrono::steady_clock::now();
  probe.stop();
  CHECK_THROWS_WITH(measured.get(), Catch::Contains("this gateway ends"));
  CHECK(std::chrono::steady_clock::now() - before < 30s);
  std::filesystem::remove(begun);
  CHECK_THROWS_WITH(probe.measure("speech"), Catch::Contains("this gateway ends"));
  CHECK_FALSE(std::filesystem::exists(begun));
}

TEST_CASE("what a process says is shown in part, and without control characters") {
  const auto [code, message] =
      error_of(k_confined + R"(printf '{"rule":"codec","message":"a\\nb%01000d"}\n' 1; exit 1)");
  CHECK(code == Code::invalid);
  CHECK(message.find('\n') == std::string::npos);
  CHECK(message.size() < 500);
}

TEST_CASE("a recording that is cut is refused with both of its lengths") {
  SpeechProbe::check_whole("no WAV, which a decoder judges");
  // A second of two at 8 kHz and 8 bits.
  const std::string head(
      "RIFF\0\0\0\0WAVEfmt \20\0\0\0\1\0\1\0\100\37\0\0\100\37\0\0\1\0\10\0data\200\76\0\0", 44);
  CHECK_NOTHROW(SpeechProbe::check_whole(head + std::string(16'000, 'x')));
  CHECK_THROWS_WITH(
      SpeechProbe::check_whole(head + std::string(8'000, 'x')),
      Catch::Contains("by the rule length: its header says 2.0 s, and only 1.0 s are there"));
}

TEST_CASE("a text is spoken before its job is accepted where it may be too long") {
  const JobText text{.text = std::string(67, 'a'), .avatar_voice = "de"};  // the limit is 100 s
  const SpeechProbe speaks = probe(k_confined + R"(echo "{\"duration_s\":42}")");
  CHECK_FALSE(speaks.knows(text));
  CHECK(speaks.speak(text) == 42);
  CHECK(probe(k_confined + R"(echo "{\"unspoken\":\"no espeak-ng\"}")").speak(text) ==
        std::nullopt);
  CHECK_THROWS_WITH(
      probe(k_confined + R"(echo "{\"rule\":\"duration\",\"message\":\"long\"}"; exit 1)")
          .speak(text),
      Catch::Contains("the text is refused by the rule duration: long"));
  CHECK_THROWS_WITH(
      probe(k_confined + R"(echo "{\"duration_s\":101}")").speak(text),
      Catch::Contains("the text is refused by the rule duration: the text is spoken for"));
  CHECK_THROWS_WITH(probe("exit 1").speak(text), Catch::Contains("the text cannot be judged"));
  // Words that last for less whoever speaks them need no process; markup may be of any length.
  const SpeechProbe none = probe("exit 1");
  CHECK(none.knows({.text = std::string(66, 'a')}));
  CHECK_FALSE(none.knows({.text = "a", .ssml = true}));
  CHECK_FALSE(none.knows({.text = "a", .voice = "en-us"}));
}

TEST_CASE("a text of signs and tags is spoken before its job is accepted, since it may be silent") {
  const SpeechProbe silent =
      probe(k_confined + R"(echo "{\"rule\":\"silence\",\"message\":\"nothing\"}"; exit 1)");
  for (const char* text : {"...", "\u2014", "<break/>", " \u200b ", "?", "\u3002", "<s>+</s>"}) {
    INFO(text);
    CHECK_FALSE(silent.knows({.text = text}));
    CHECK(silent.speak({.text = text}) == std::nullopt);  // the worker knows the voice
    CHECK_THROWS_WITH(silent.speak({.text = text, .avatar_voice = "de"}),
                      Catch::Contains("the text is refused by the rule silence: nothing"));
  }
  for (const char* text : {"a", "7", "<b></b>", "<s>a</s>", "\u4f60", "... \u00e9", "1 < 2"}) {
    INFO(text);
    CHECK(silent.knows({.text = text}));
  }
}

TEST_CASE("espeak-ng is asked for voices without secrets, for a while, and not for mbrola's") {
  const test::ScratchFolder folder;  // programs in shared memory may not run
  const std::string program = folder / "espeak-ng";
  std::ofstream(program) << "#!/bin/sh\n"
                            "case \"$NAVTALK_TEST_SECRET $*\" in\n"
                            "  42*|*mb-*) echo 'voice does not exist' >&2; exit 1;;\n"
                            "  *slow*) exec sleep 60;;\n"
                            "esac\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  ::setenv("NAVTALK_TEST_SECRET", "42", 1);
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", (std::string(folder.path()) + ":" + path).c_str(), 1);
  const auto ask = [&](const std::string& voice, std::chrono::milliseconds patience = 60s) {
    const SpeechProbe asks = probe("exit 1", patience);
    const JobText text{.text = "a", .voice = voice};
    CHECK(asks.speak(text) == std::nullopt);
    return asks.knows(text);
  };
  CHECK(ask("en-us"));
  const auto before = std::chrono::steady_clock::now();
  CHECK_FALSE(ask("slow", 500ms));
  CHECK(std::chrono::steady_clock::now() - before < 30s);
  CHECK(ask("mb-en1"));
  ::setenv("PATH", path.c_str(), 1);
}

TEST_CASE("a text is measured with the avatar's voice, and not at all where that is not known") {
  // The words behind the script are "--text --voice VOICE FILE".
  const SpeechProbe speaks =
      probe(k_confined + R"(test "$1 $2" = '--voice ar' && echo "{\"duration_s\":42}")");
  CHECK(speaks.speak({.text = std::string(67, 'a'), .avatar_voice = "ar"}) == 42);
  CHECK_THROWS_WITH(speaks.speak({.text = std::string(67, 'a'), .avatar_voice = "de"}),
                    Catch::Contains("try again"));
  CHECK(probe("exit 1").speak({.text = std::string(67, 'a')}) == std::nullopt);
}
