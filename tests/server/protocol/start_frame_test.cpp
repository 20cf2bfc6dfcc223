#include "server/protocol/start_frame.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "core/base/error.h"

using namespace navtalk;
using namespace navtalk::server;
using nlohmann::json;

TEST_CASE("a start without members asks for the defaults") {
  for (const char* text : {R"({"type":"session.start"})", R"({"video":{},"audio":{}})",
                           R"({"video":{"width":null},"audio":null})", R"({"avatar":null})"}) {
    const StartFrame start = parse_start(json::parse(text));
    CHECK(start.avatar.empty());
    CHECK(start.width == 0);
    CHECK(start.audio_rate_hz == 16000);
    CHECK_FALSE(start.opus);
  }
}

TEST_CASE("a start's members are read, and others ignored") {
  const StartFrame start = parse_start(json::parse(
      R"({"avatar":"ada","video":{"width":320,"height":9,"bitrate":500000},"audio":{"rate":48000,"output":"opus"},"x":1})"));
  CHECK(start.opus);
  CHECK(start.avatar == "ada");
  CHECK(start.width == 320);
  CHECK(start.bit_per_s == 500000);
  CHECK(start.audio_rate_hz == 48000);
}

TEST_CASE("a start's wrong members are refused by name") {
  const auto [text, name] = GENERATE(
      table<std::string, std::string>({{R"({"video":{"width":"320"}})", "video.width"},
                                       {R"({"video":{"width":320.5}})", "video.width"},
                                       {R"({"video":{"width":8}})", "video.width"},
                                       {R"({"video":{"bitrate":1}})", "video.bitrate"},
                                       {R"({"audio":{"rate":7999}})", "audio.rate"},
                                       {R"({"audio":{"rate":48001}})", "audio.rate"},
                                       {R"({"audio":{"rate":18446744073709551615}})", "audio.rate"},
                                       {R"({"audio":{"output":"mp3"}})", "audio.output"},
                                       {R"({"avatar":7})", "avatar"},
                                       {R"({"video":480})", "video"},
                                       {R"({"audio":[16000]})", "audio"}}));
  try {
    parse_start(json::parse(text));
    FAIL("accepted: " << text);
  } catch (const Error& error) {
    CHECK(error.code() == Code::usage);
    CHECK_THAT(error.message(), Catch::StartsWith(name));
  }
}

TEST_CASE("where a session stands is read from the start, or its wrong member is named") {
  CHECK_FALSE(parse_start(json::parse(R"({"avatar":"ada"})")).position);
  const auto position =
      parse_start(
          json::parse(R"({"position":{"clock_us":86400000000,"sounds":7,"pictures":4294967295}})"))
          .position;
  CHECK(position ==
        StreamPosition{.clock = std::chrono::hours(24), .sounds = 7, .pictures = 4294967295});
  const auto [text, name] = GENERATE(table<std::string, std::string>(
      {{R"({"position":{}})", "position.clock_us"},
       {R"({"position":7})", "position is an object"},
       {R"({"position":{"clock_us":-1,"sounds":1,"pictures":1}})", "position.clock_us"},
       {R"({"position":{"clock_us":1e300,"sounds":1,"pictures":1}})", "position.clock_us"},
       {R"({"position":{"clock_us":18446744073709551615,"sounds":1,"pictures":1}})",
        "position.clock_us"},
       {R"({"position":{"clock_us":1,"sounds":4294967296,"pictures":1}})", "position.sounds"},
       {R"({"position":{"clock_us":1,"sounds":1,"pictures":"1"}})", "position.pictures"}}));
  CHECK_THROWS_WITH(parse_start(json::parse(text)), Catch::Contains(name));
}

TEST_CASE("a start reaches the worker without what is between client and gateway") {
  const json asked = json::parse(
      R"({"type":"session.start","avatar":"ada","resume_token":"x","position":{"clock_us":1}})");
  CHECK(json::parse(start_for_worker(asked, {})) ==
        json::parse(R"({"type":"session.start","avatar":"ada"})"));
  const StreamPosition position{.clock = std::chrono::seconds(3), .sounds = 4, .pictures = 5};
  CHECK(parse_start(json::parse(start_for_worker(asked, position))).position == position);
}

TEST_CASE("an avatar is shown as wide as it is, or 1920 pixels wide where it is smaller") {
  CHECK_FALSE(size_fault({.width = 1920}, 640, 480));
  CHECK(size_fault({.width = 1921}, 640, 480));
  CHECK_FALSE(size_fault({.width = 3000}, 3000, 2000));
  CHECK(size_fault({.width = 3001}, 3000, 2000));
  CHECK_FALSE(size_fault({}, 8000, 6000));  // as it is
}
